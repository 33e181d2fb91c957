// Package why says in one sentence why a request went as it did, and what to do then. Its
// sentences hold numbers and names of settings, and nothing that a client wrote. The log,
// the header x-laconic-why, the page, the findings and the commands all show them.
package why

import (
	"cmp"
	"fmt"
	"strings"

	"laconic/compact"
	"laconic/number"
)

// Reason is why something happened, and what to do about it; "" where nothing is to be
// done.
type Reason struct{ Says, Fix string }

// String returns the reason in one line.
func (r Reason) String() string {
	if r.Says == "" || r.Fix == "" {
		return r.Says
	}
	return r.Says + ": " + r.Fix
}

// MarshalText writes the reason in one line.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads that line. The remedy stays in it.
func (r *Reason) UnmarshalText(line []byte) error {
	*r = Reason{Says: string(line)}
	return nil
}

// Header returns the reason as the value of a header: in ASCII, and not long.
func Header(r Reason) string {
	text := strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return '?'
		}
		return c
	}, r.String())
	return text[:min(len(text), 300)]
}

// Repaired returns why a history was repaired; nothing where it was not.
func Repaired(r *compact.Report) Reason {
	switch {
	case r.ResultsDropped > 0:
		return Reason{
			fmt.Sprintf("%s with content had no call and left", number.Count(r.ResultsDropped, "tool result")),
			"the client loses calls from its history: look at the program that is named in tags, or at its version",
		}
	case r.Repairs > 0:
		return Reason{fmt.Sprintf("the history needed %s, without which the upstream refuses it", number.Count(r.Repairs, "repair")), ""}
	}
	return Reason{}
}

// Passed returns why a request went out as it came. sentence is that of a body which
// cannot be read.
func Passed(word, sentence string) Reason {
	because := "it went out as it came, because " + sentence
	switch word {
	case "route":
		return Reason{} // no chat request
	case "mode":
		return Reason{"it was not to be measured", "set mode: on in the model's row, or send no x-laconic-mode"}
	case "small":
		return Reason{"its body is below min_body", ""}
	case "empty":
		return Reason{"no message of it says anything", "look at the client"}
	case "encoding":
		return Reason{"its body is compressed in a way that is not read", "have the client send it plain, or with gzip or zstd"}
	case "fault":
		return Reason{"the proxy failed on it", "report the line fault of the log"}
	case "history_elsewhere", "call_elsewhere": // what a client may want
		return Reason{because, "to have it compacted, let the client send its whole history"}
	case "context_managed":
		return Reason{because, "to have it compacted here, let the client ask for no compaction"}
	}
	return Reason{because, "correct the client"}
}

// Refusal is how an upstream refused a request, and what became of it.
type Refusal struct {
	// Reason is "overflow", "template", "thinking" where thinking was bound to another
	// history or missing, "compaction" where the upstream does not know what asks for one,
	// and the proxy answered, or "refused" where a compacted body was refused with 400 or
	// 422 for any other reason.
	Reason         string
	Hint           string // of a template
	Kind           string // of an overflow; see overflow.Kind
	Full           bool   // other requests may have filled what was full
	Limit, Prompt  int    // that the upstream named; 0: none
	First, Second  int    // tokens of the two prompts
	Sent, Answered bool
}

// Refused returns why an upstream refused a request at first, and what was done.
func Refused(r Refusal) Reason {
	says, fix := "the upstream refused the history as it was compacted", ""
	switch r.Reason {
	case "overflow":
		says, fix = tooLong(r)
	case "template":
		says, fix = "the model's chat template refused the list", r.Hint
	case "thinking":
		says = "the upstream refused thinking that is bound to another history"
	case "compaction":
		return Reason{"the upstream does not know compaction_trigger, and was answered for with a sealed record", "to have the model summarize, give Codex' provider another name than OpenAI"}
	}
	switch {
	case r.Answered:
		return Reason{fmt.Sprintf("%s; it was sent again with %s and answered", says, number.Of(r.Second)), fix}
	case r.Sent:
		return Reason{fmt.Sprintf("%s, and %s as well", says, number.Of(r.Second)), fix}
	}
	return Reason{says, fix}
}

// tooLong returns what an upstream refused as too long, and what helps.
func tooLong(r Refusal) (says, fix string) {
	takes := ""
	if r.Limit > 0 {
		takes = ", and takes " + number.Of(r.Limit)
	}
	says = fmt.Sprintf("the upstream refused %s tokens as too long", number.Of(cmp.Or(r.Prompt, r.First)))
	switch {
	case r.Kind == "bytes":
		return "the upstream refused the bytes of the body as too many" + takes, "raise that limit at the server, or at what stands before it"
	case r.Kind == "count":
		return "the upstream refused the number of messages" + takes, "set max_messages in the model's row to what it takes"
	case r.Full:
		return says + ", though its window is larger: other requests may have filled its memory", "have it take fewer at once (llama-server: -np 1), or give it a larger cache"
	case r.Limit > 0:
		return says + takes, fmt.Sprintf("set window to %d in the model's row", r.Limit)
	}
	return says, "set window in the model's row to what the server has"
}

// Unanswered returns why an upstream did not answer, or not to the end, by the code of the
// error and what the network says. A client that may not see it is told no host.
func Unanswered(host, code, detail string) Reason {
	says := map[string]string{
		"upstream_unreachable": "could not be reached", "upstream_timeout": "did not answer in time", "upstream_silent": "fell silent in its answer",
	}[code]
	if status, ok := strings.CutPrefix(code, "status_"); ok {
		says = "answered " + status
	}
	r := Reason{strings.TrimSuffix("the upstream "+host, " ") + " " + cmp.Or(says, "broke off"), "look at its log, and whether it runs"}
	if detail = strings.TrimPrefix(detail, host+": "); detail != "" {
		r.Says += " (" + detail + ")"
	}
	if code == "upstream_unreachable" {
		r.Fix = Reach(detail, "upstream")
	}
	return r
}

// Reach returns what helps where an upstream cannot be reached, by what the network says.
// place is where the configuration names it.
func Reach(detail, place string) string {
	switch {
	case strings.Contains(detail, "not https"):
		return "write http:// in " + place
	case strings.Contains(detail, "name lookup"):
		return "correct the name of the host in " + place + ", or the name service of this machine"
	case strings.Contains(detail, "certificate"):
		return "make this machine trust its certificate (SSL_CERT_FILE, for an authority of your own), or correct " + place
	}
	return "start it, or correct " + place
}

// Cut returns why an upstream read less of a prompt than it was sent.
func Cut(prompt, sent int) Reason {
	return Reason{fmt.Sprintf("the upstream read %s of about %s tokens and did not say so", number.Of(prompt), number.Of(sent)), Raise}
}

// Raise is what helps against an upstream that cuts prompts.
const Raise = "raise the window where the server is started (Ollama: OLLAMA_CONTEXT_LENGTH), and set window in the model's row"

// Ended returns why an answer is not whole, by how its end is named; nothing for "".
func Ended(word string) Reason {
	switch word {
	case "":
		return Reason{}
	case "context_window", "length_without_output":
		return Reason{"the window was full before the answer ended", "set window in the model's row to what the server has, or raise reserve"}
	}
	return Reason{"the upstream ended its stream early", "look at its log, and at what stands between"}
}

// ollamaDefault is the window, in tokens, that Ollama gives a model unless it is told.
const ollamaDefault = 4096

// Unloaded returns which window Ollama will load a model with, which it tells only of
// loaded ones; nothing for another program.
func Unloaded(program string) Reason {
	if program != "Ollama" {
		return Reason{}
	}
	return Reason{
		fmt.Sprintf("Ollama has no model loaded; its default window, on machines with little memory, is %d tokens, too small for any agent", ollamaDefault),
		"start Ollama with OLLAMA_CONTEXT_LENGTH=32768 or more",
	}
}

// Small returns that a model runs with Ollama's default window; nothing for another.
func Small(program, model string, window int) Reason {
	if program != "Ollama" || window != ollamaDefault {
		return Reason{}
	}
	return Reason{
		fmt.Sprintf("%s runs with Ollama's default window of %d tokens, too small for any agent, and prompts are cut to it without a word", model, window),
		"start Ollama with OLLAMA_CONTEXT_LENGTH=32768 or more",
	}
}
