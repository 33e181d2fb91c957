package tokenize

// tokenizer is one way to count a text: an estimate by length, or an exact count.
type tokenizer struct {
	name     string
	tenths   int              // estimate: ten times the bytes of UTF-8 that make one token
	count    func(string) int // exact: the tokens of a text; nil for an estimate
	envelope int              // tokens around each message
	call     int              // tokens around each tool call
}

// Around a message OpenAI adds 3 tokens and one for the role; templates of open models add up to 8 (Llama 3 writes
// two header tokens, the role, a blank line and an end mark). An estimate takes 8 and so pays for names too. A call
// brings its id, its type and the braces around it: about 8.
const (
	estimateEnvelope = 8
	estimateCall     = 8
)

// tokenizers are all known ways to count a text, the most generous first. "bytes/4" is the rule of thumb that most
// peers use; it under-counts agent traffic by 8 to 50 %. The others are the families' (families.go says why).
var tokenizers = []tokenizer{
	bytesPer(40, "bytes/4"),
	bytesPer(35, "bytes/3.5"),
	bytesPer(32, "bytes/3.2"),
	bytesPer(30, "bytes/3"),
	bytesPer(28, "bytes/2.8"),
	bytesPer(26, "bytes/2.6"),
	bytesPer(24, "bytes/2.4"),
	bytesPer(22, "bytes/2.2"),
}

func bytesPer(tenths int, name string) tokenizer {
	return tokenizer{name: name, tenths: tenths, envelope: estimateEnvelope, call: estimateCall}
}

// estimate is ⌈n·10/tenths⌉, without overflow for any n.
func (t *tokenizer) estimate(n int) int {
	if n <= 0 {
		return 0
	}
	return n/t.tenths*10 + ceilDiv(n%t.tenths*10, t.tenths)
}

// ceilDiv is ⌈a/b⌉ for a ≥ 0 and b ≥ 1.
func ceilDiv(a, b int) int { return (a + b - 1) / b }
