package tokenize

import (
	_ "embed"
	"strconv"
	"strings"
)

// families are the rows of families.txt.
var families = func() (all []family) {
	for line := range strings.Lines(familyTable) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		f := strings.Split(line, " | ")
		n := numbersIn(f[4:])
		all = append(all, family{f[0], f[1], f[2], pictureNamed(f[3]), n[0], n[1], n[2], n[3]})
	}
	return all
}()

//go:embed families.txt
var familyTable string

// numbersIn reads numbers of the table, which is a part of the program.
func numbersIn(texts []string) (all []int) {
	for _, text := range texts {
		n, err := strconv.ParseInt(text, 0, 0)
		if err != nil {
			panic("BUG: families.txt: " + err.Error())
		}
		all = append(all, int(n))
	}
	return all
}

// pictureNamed returns how a row charges a picture: one of pictures, or a way with its
// numbers.
func pictureNamed(text string) picture {
	f := strings.Fields(text)
	switch n := numbersIn(f[1:]); f[0] {
	case "flat":
		return flat(n[0])
	case "squares": // OpenAI's way since gpt-4.1-mini: up to 1,536 squares of 32 pixels, at so many percent of a token
		return patches{side: 32, percent: n[0], limit: 1_536}
	case "tiles":
		return tiles{n[0], n[1]}
	case "area":
		return area{n[0], n[1]}
	case "crops":
		return crops{n[0]}
	case "lines":
		return lines{n[0], n[1]}
	}
	return pictures[text]
}

// pictures are the ways to charge a picture that families.txt names.
var pictures = map[string]picture{
	// Since gpt-5.4 "auto" keeps the original size, up to 10,000 squares; "high" stops at 2,500.
	"openAI54": patches{side: 32, percent: 120, limit: 10_000, high: 2_500},
	// gpt-6 was seen to take 11,970 squares under "auto"; where it stops is not known.
	"openAI6": patches{side: 32, percent: 120, limit: 12_000, high: 2_500},

	"claude4":  area{1568, 1_600},
	"mistral3": lines{28, 1540}, // patches of 14, merged two by two

	// Qwen's own processor takes up to 16,384 squares of 28 pixels; hosts stop at 2,560 or less unless told otherwise,
	// so a picture of unknown size is charged 4,096.
	"qwenVision": patches{side: 28, percent: 100, limit: 16_384, unseen: 4_096},

	// Where nothing is known: squares of 28 pixels, which most open vision models merge into a token, at least
	// Ollama's 768 (LLaVA has 576 for any picture) and at most 4,096 (Pixtral; InternVL has 3,328).
	"anyVision": patches{side: 28, percent: 100, limit: 4_096, least: 768},
}
