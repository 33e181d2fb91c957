package main

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"
)

// catalogTexts give the translations of the message catalogs that are installed, each once. They are the texts in many
// languages that nearly every Linux machine has.
func catalogTexts(languages ...string) func(give func(string)) {
	return func(give func(string)) {
		var all []map[string]bool
		for _, language := range languages {
			seen := map[string]bool{}
			files(func(data string) {
				for original, translation := range catalog(data) {
					if original != "" && translation != original { // the empty one is the header
						seen[translation] = true
					}
				}
			}, locales+"/"+language+"/LC_MESSAGES", ".mo")
			all = append(all, seen)
		}
		// Some of each language in turns, so that a sample has some of each.
		var lists [][]string
		for _, seen := range all {
			lists = append(lists, slices.Sorted(maps.Keys(seen)))
		}
		inTurns(lists, 64, func(some []string) { give(strings.Join(some, "\n")) })
	}
}

// catalog reads a message catalog of GNU gettext (its manual, section "The Format of GNU MO Files"): originals and
// translations. Files of the other byte order, and broken ones, have none.
func catalog(data string) map[string]string {
	all := map[string]string{}
	raw := []byte(data)
	if len(raw) < 20 || binary.LittleEndian.Uint32(raw) != 0x950412de {
		return all
	}
	number := func(at uint32) uint32 {
		if uint64(at)+4 > uint64(len(raw)) {
			return 0
		}
		return binary.LittleEndian.Uint32(raw[at:])
	}
	entry := func(at uint32) string {
		size, start := uint64(number(at)), uint64(number(at+4))
		if start+size > uint64(len(raw)) {
			return ""
		}
		return data[start : start+size]
	}
	count, originals, translations := number(8), number(12), number(16)
	for i := range min(count, uint32(len(raw)/8)) {
		all[entry(originals+8*i)] = strings.ReplaceAll(entry(translations+8*i), "\x00", "\n") // plurals
	}
	return all
}
