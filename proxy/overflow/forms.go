package overflow

import (
	"regexp"
	"strconv"
	"sync"
)

// form is one way to say that a request is too large.
type form struct {
	name string
	kind Kind
	// match finds the sentence, at the start of an error's text. Its groups: L
	// limit, K limit in thousands, P prompt, O answer, T both together, A one kind of
	// input of many.
	match   *regexp.Regexp
	atLeast bool // P is where the upstream stopped to count
	alone   bool // L is for the prompt, whatever the answer may be
	// promptOnly: L is the window, and the answer that was asked for is not looked
	// at: what is written stops where the window ends.
	promptOnly bool
	shared     bool // see Refusal.Shared
	denied     bool // it comes under 401, as if the key were wrong
	// codes are those of which the error must have one as its code or type; alone
	// where words may change.
	codes []string
}

// says makes a row's expression: <L>, <K>, <P>, <O>, <T>, <A> stand for numbers. A
// text may stand behind the names of errors that gateways put in front of it
// ("litellm.BadRequestError: OpenAIException - …"), but nowhere else: in mid
// sentence it may be a quotation.
func says(words string) *regexp.Regexp {
	nth := 0 // no two groups may have one name, so each has a number too
	return regexp.MustCompile(`(?is)^` + lead + group.ReplaceAllStringFunc(words, func(g string) string {
		nth++
		return `(?P<` + g[1:2] + strconv.Itoa(nth) + `>[\d,_]+)`
	}))
}

var group = regexp.MustCompile(`<([LKPOTA])>`)

// expression returns what compiles an expression when it is needed first: most
// processes read few refusals, and all of them start.
func expression(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

const lead = `(?:\d{4}: )?(?:[\w.' ]{0,60}?(?:Error|Exception)(?: code: \d+)?\s*[-:]\s*)*` +
	`(?:rpc error: code = \w+ desc = |Input validation error: |Invalid request: |invalid params, |Value error, |Unable to submit request because |` +
	`An error occurred \(\w+\) when calling the \w+ operation: |400 Bad Request: |The model returned the following errors: |Provider returned error: )*\s*`

// forms returns the rows, the more specific ones first.
// The source of a sentence is with its body in testdata.
var forms = sync.OnceValue(func() []form {
	return []form{
		// OpenAI, Azure, DeepSeek, and vLLM and many others that repeat their words.
		{name: "openai, with the answer", kind: Prompt, match: says(`This model's maximum context length is <L> tokens\. However, you requested <T> tokens \((?:<A> in the messages)?.*?<O> in the completion\)`)},
		{name: "openai, completions", kind: Prompt, match: says(`This model's maximum context length is <L> tokens, however you requested <T> tokens \(<P> in your prompt; <O> for the completion\)`)},
		{name: "openai", kind: Prompt, match: says(`This model's maximum context length is <L> tokens\. However, your (?:messages|prompt|input)\w* (?:resulted in|contains?) <P> (?:input )?tokens`)},
		{name: "openai, limit", kind: Prompt, match: says(`This model's maximum context length is <L> tokens\.(?: However, you requested <T> tokens\.)? Please reduce the length`)},
		{name: "openai, gpt-5", kind: Prompt, alone: true, match: says(`Input tokens exceed the configured limit of <L> tokens\. Your messages resulted in <P> tokens`)},
		{name: "openai, responses", kind: Prompt, match: says(`Your input exceeds the context window of this model`)},
		{name: "tokens per minute", kind: Quota, match: says(`Request too large for .{0,300}?Limit <L>, Requested <T>`)},

		// vLLM. Its newer versions stop to count at the limit: the number is always one more than that.
		{name: "vllm, answer", kind: Prompt, match: says(`'?max_tokens'? or '?max_completion_tokens'? is too large: <O>\. ?This model's maximum context length is <L> tokens and your request has <P> input tokens`)},
		{name: "vllm, bounded", kind: Prompt, atLeast: true, match: says(`This model's maximum context length is <L> tokens\. However, you requested <O> output tokens and your prompt contains at least <P> input tokens`)},
		{name: "vllm, bounded characters", kind: Prompt, match: says(`This model's maximum context length is <L> tokens\. However, you requested <O> output tokens and your prompt contains [\d,]+ characters`)},
		{name: "vllm, total", kind: Prompt, match: says(`This model's maximum context length is <L> tokens\. However, you requested <O> output tokens and your prompt contains <P> input tokens`)},
		{name: "vllm, answer alone", kind: Output, match: says(`max_(?:completion_)?tokens=<O> cannot be greater than (?:max_\w+=)+<L>`)},
		{name: "vllm 0.6, below zero", kind: Prompt, match: says(`max_tokens must be at least 1, got -\d\d`)},
		{name: "vllm 0.16", kind: Prompt, atLeast: true, match: says(`You passed <P> input tokens and requested <O> output tokens\. However, the model's context length is only <L> tokens`)},
		{name: "vllm 0.16, characters", kind: Prompt, match: says(`You passed [\d,]+ input characters and requested <O> output tokens\. However, the model's context length is only <L> tokens`)},
		{name: "vllm, input", kind: Prompt, match: says(`This model's maximum context length is <L> tokens\. However, your request has <P> input tokens`)},
		{name: "vllm 0.5", kind: Prompt, match: says(`This model's maximum context length is <L> tokens\. However, you requested <P> tokens in the messages`)},
		{name: "vllm, engine", kind: Prompt, match: says(`The (?:decoder |encoder )?prompt \((?:total )?length <P>\)(?: plus the number of requested output tokens \(at least 1\))? is (?:longer than the maximum model length of|too long to fit into the model \(context length) <L>`)},

		{name: "input length", kind: Prompt, match: says(`Input length \(<P>\) exceeds model's maximum context length \(<L>\)`)},

		// SGLang, also behind Together, Novita, Cloudflare. The second limit is what memory is left, not the model's.
		{name: "sglang", kind: Prompt, match: says(`The input(?: \(<P> tokens\))? is longer than the model's context length(?: \(<L> tokens\))?`)},
		{name: "sglang, with the answer", kind: Prompt, match: says(`Requested token count exceeds the model's maximum context length of <L> tokens\.(?: You requested a total of <T> tokens(?:: <P> tokens from the input messages and <O> tokens for the completion)?)?`)},
		{name: "sglang, memory", kind: Prompt, alone: true, match: says(`Input length \(<P> tokens\) exceeds the maximum allowed length \(<L> tokens\)`)},

		{name: "tgi", kind: Prompt, match: says("`?inputs`? tokens \\+ `?max_new_tokens`? must be <= <L>\\. Given: <P> `?inputs`? tokens and <O> `?max_new_tokens")},
		{name: "tgi, prompt", kind: Prompt, alone: true, match: says("`?inputs`? must have less than <L> tokens\\. Given: <P>")},

		{name: "llama.cpp", kind: Prompt, promptOnly: true, match: says(`(?:the )?request \(<P> tokens\) exceeds the available context size \(<L> tokens\)`)},
		{name: "llama.cpp, no numbers", kind: Prompt, promptOnly: true, match: says(`the request exceeds the available context size`)},
		{name: "llama.cpp, shared cache", kind: Prompt, promptOnly: true, shared: true, codes: []string{"server_error"}, match: says(`Context size has been exceeded`)},
		{name: "ollama", kind: Prompt, promptOnly: true, match: says(`(?:the )?input length exceeds the (?:maximum )?context length`)},
		{name: "ollama, excess", kind: Prompt, promptOnly: true, match: says(`prompt too long; exceeded (?:max )?context length`)},
		{name: "ollama, no numbers", kind: Prompt, promptOnly: true, match: says(`the prompt is longer than the context length currently available to the model`)},
		{name: "ollama cloud, fireworks", kind: Prompt, match: says(`(?:the )?prompt is too long: <P>(?: tokens)?, (?:model maximum )?context length(?: is|:) <L>`)},
		{name: "lm studio", kind: Prompt, promptOnly: true, match: says(`Trying to keep the first <P> tokens when context the overflows\. However, the model is loaded with context length of only <L> tokens`)},
		{name: "lm studio, keep", kind: Prompt, promptOnly: true, match: says(`The number of tokens to keep from the initial prompt is greater than the context length(?: \(n_keep: <P> ?>= ?n_ctx: <L>\))?`)},
		{name: "lm studio, truncate", kind: Prompt, promptOnly: true, match: says(`Cannot truncate prompt with n_keep \(<P>\) >= n_ctx \(<L>\)`)},
		{name: "lm studio, full", kind: Prompt, promptOnly: true, match: says(`Reached context length of <L> tokens with this model`)},
		{name: "lm studio, mlx", kind: Prompt, promptOnly: true, match: says(`Context size has been exceeded`)},

		{name: "anthropic", kind: Prompt, match: says(`prompt is too long: <P> tokens > <L> maximum`)},
		{name: "anthropic, with the answer", kind: Prompt, match: says("input length and `max_tokens` exceed context limit: <P> \\+ <O> > <L>")},
		{name: "anthropic, bytes", kind: Bytes, match: says(`Request (?:size )?exceeds the maximum (?:allowed )?(?:number of bytes|size)`)},
		{name: "bedrock", kind: Prompt, match: says(`Input is too long for requested model(?:\. Prompt length: <P>, max: <L>)?`)},

		{name: "bedrock, nova", kind: Prompt, match: says(`Input Tokens Exceeded: Number of input tokens exceeds maximum length`)},
		{name: "bedrock, titan", kind: Prompt, alone: true, match: says(`Too many input tokens\. Max input tokens: <L>, request input token count: <P>`)},
		{name: "litellm", kind: Prompt, alone: true, match: says(`(?:litellm\._pre_call_checks: )?Context Window exceeded for given call\. No models have context window large enough for this call\.(?:\s*Model=\S+, Max Input Tokens=<L>)?`)},
		{name: "watsonx", kind: Prompt, match: says(`(?:Invalid input argument for Model '[^']{1,100}': )?the number of input tokens <P> cannot exceed the total tokens limit <L>`)},

		{name: "gemini", kind: Prompt, alone: true, match: says(`The input token count(?: \(<P>\))? exceeds the maximum number of tokens allowed(?: \(?<L>)?`)},
		{name: "vertex", kind: Prompt, alone: true, match: says(`the input token count is <P> but (?:the )?model only supports up to <L>`)},
		{name: "gemini, bytes", kind: Bytes, match: says(`Request payload size exceeds the limit: <L> bytes`)},
		{name: "gemini, 500", kind: Prompt, match: says(`Your input context is too long`)},

		{name: "mistral", kind: Prompt, match: says(`Prompt contains <P> tokens .{0,100}?too large for model with <L> maximum context length`)},
		{name: "mistral, limit", kind: Prompt, match: says(`The number of tokens in the prompt exceeds the model's maximum context length of <L>`)},
		{name: "moonshot", kind: Prompt, match: says(`Your request exceeded model token limit: <L>(?: \(requested: <T>\))?`)},
		{name: "moonshot, older", kind: Prompt, match: says(`(?:the )?model max length exceeded, max length: ?<L>`)},
		{name: "moonshot, no numbers", kind: Prompt, match: says(`Input token length too long`)},
		{name: "kimi code", kind: Prompt, denied: true, match: says(`[\w.-]{1,60} supports only <K>K context`)},
		{name: "openrouter", kind: Prompt, match: says(`This endpoint's maximum context length is <L> tokens\. However, you requested about <T> tokens \(<A> of text input(?:, <A> of tool input)?(?:, <A> of image input)?(?:, <A> of \w+ input)*(?:, <O> in the output)?\)`)},
		{name: "xai", kind: Prompt, alone: true, match: says(`This model's maximum prompt length is <L> but the request contains <P> tokens`)},
		{name: "github copilot", kind: Prompt, alone: true, match: says(`prompt token count of <P> exceeds the limit of <L>`)},
		{name: "cerebras", kind: Prompt, match: says(`Please reduce the length of the messages or completion\. Current length is <P> while limit is <L>`)},
		{name: "groq", kind: Prompt, match: says(`Please reduce the length of the messages or completion`)},
		{name: "dashscope", kind: Prompt, alone: true, match: says(`(?:<400> InternalError\.Algo\.InvalidParameter: )?Range of input length should be \[\d+, ?<L>\]`)},
		{name: "mlx", kind: Prompt, match: says(`Prompt too long: <P> tokens exceeds (?:max )?context window of <L> tokens`)},
		{name: "ds4", kind: Prompt, match: says(`Prompt has <P> tokens, but the configured context size is <L> tokens`)},
		{name: "zhipu", kind: Prompt, match: says(`Prompt (?:is )?(?:too long|exceeds max(?:imum context)? length)|tokens in request more than max tokens allowed`)},
		{name: "minimax", kind: Prompt, match: says(`context window exceeds limit`)},
		{name: "siliconflow", kind: Prompt, match: says(`length of prompt_tokens \(<P>\) must be less than max_seq_len \(<L>\)`)},
		{name: "tensorrt-llm", kind: Prompt, match: says(`The sum of prompt length \(<P>(?:\.0)?\), query length \([\d.]+\)(?: and max_tokens \(<O>\))? should not exceed max_num_tokens \(<L>\)`)},
		{name: "tensorrt-llm, no room", kind: Prompt, match: says(`default_max_tokens \(-?\d+\) must be greater than 0, default_max_tokens \(-?\d+\) = max_seq_len \(<L>\) - splited_prompt_len \(<P>\)`)},
		{name: "tabbyapi", kind: Prompt, match: says(`(?:Prompt|Context) length <P> is greater than max_seq_len <L>`)},
		{name: "mlc", kind: Prompt, alone: true, match: says(`Request prompt has <P> tokens in total, larger than the model input length limit <L>`)},
		{name: "github models", kind: Prompt, alone: true, match: says(`Request body too large for .{0,100}? model\. Max size: <L> tokens`)},
		{name: "cloudflare", kind: Prompt, match: says(`The estimated number of input and maximum output tokens \(<T>\) exceeded this model context window limit \(<L>\)`)},
		{name: "cohere", kind: Prompt, alone: true, match: says(`too many tokens: total number of tokens in the prompt cannot exceed <L> - received <P>`)},
		{name: "volcengine, images", kind: Prompt, match: says(`Total tokens of image and text exceed max message tokens`)},
		{name: "volcengine, deepinfra, nim, poolside", kind: Prompt, alone: true, match: says(`(?:Requested )?input length <P> exceeds (?:the )?maximum (?:allowed )?(?:input )?(?:length|token size)(?: of)? <L>`)},
		{name: "qianfan", kind: Prompt, match: says(`prompt tokens too long`)},

		// A list of many small messages. Azure's words, OpenAI's.
		{name: "azure, messages", kind: Count, match: says(`'\$\.messages' is too long\. Maximum length is <L>, but got <P> items`)},
		{name: "openai, messages", kind: Count, match: says(`Invalid 'messages': array too long\. Expected an array with maximum length <L>, but got an array with length <P>`)},

		// Words may change, fields do not.
		{name: "code", kind: Prompt, codes: []string{"context_length_exceeded", "context_window_exceeded", "model_context_window_exceeded", "model_max_prompt_tokens_exceeded", "1261", "3051"}},
		{name: "llama.cpp, code", kind: Prompt, promptOnly: true, codes: []string{"exceed_context_size_error", "context_exceeded"}},
		{name: "minimax, code", kind: Prompt, codes: []string{baseResp + "1039"}},
		{name: "code, bytes", kind: Bytes, codes: []string{"request_too_large"}},
	}
})

// excluded matches sentences that come with a code of the table, or look like a
// row, but refuse no prompt: a 40 character id that LiteLLM files under context
// overflow (BerriAI/litellm#17343), rate limits that waiting cures.
var excluded = expression(`(?is)^.{0,200}?(?:string too long|(?:tools|tool_calls|stop|content)'?: array too long|` +
	`Limit \d+, Used \d+|ThrottlingException|Too many tokens, please wait|too many requests|rate limit reached|` +
	`supports at most [\d,]+ completion tokens|maximum allowed number of output tokens|max[_ ]tokens must be less than|image (?:exceeds|dimensions)|tool_call_id)`)
