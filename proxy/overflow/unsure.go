package overflow

import (
	"slices"
	"strings"
)

// unsure returns what a refusal in words that no row knows may be: one of length, if
// it names what a prompt is made of, and that there is too much of it. The numbers
// are the two largest of its sentence. Two are enough, in whatever language, unless
// the sentence names an answer.
func (s Said) unsure() Refusal {
	if s.status == 429 || s.status == 401 {
		return Refusal{}
	}
	for i := range s.sentences {
		text := quoted().ReplaceAllString(s.sentences[i].text, " ")
		if otherThings().MatchString(text) || fewOthers(text) {
			continue
		}
		long := longWords().MatchString(text)
		r := Refusal{Kind: Prompt, Form: "unsure", Unsure: true, Wordless: !promptWords().MatchString(text) && !(long && requestWords().MatchString(text))}
		r.Prompt, r.Limit = twoLargest(text)
		if r.Wordless && r.Limit == 0 || ofAnswers().MatchString(windowNames().ReplaceAllString(s.sentences[i].text, "")) && !promptWords().MatchString(tokenWords().ReplaceAllString(text, "")) {
			continue
		}
		if r.Limit > 0 || long || tooMuchWords().MatchString(text) {
			return r
		}
	}
	return Refusal{}
}

// leastUnsure is the smallest number in a sentence that may be one of tokens. Years
// are larger, and come alone.
const leastUnsure = 512

// twoLargest returns the two largest numbers of a text, 0 and 0 where there are no
// two that may be of tokens.
func twoLargest(text string) (largest, second int) {
	for _, digits := range numbers().FindAllString(text, -1) {
		switch n := number(thousands.Replace(digits)); {
		case strings.Count(digits, ".") > 2, !strings.ContainsAny(digits[len(digits)-1:], "0123456789,_"): // an address, a time
		case n > largest:
			largest, second = n, largest
		case n > second && n < largest:
			second = n
		}
	}
	if second < leastUnsure {
		return 0, 0
	}
	return largest, second
}

// fewOthers reports whether a sentence states a limit that is too small for a prompt,
// and so is one of other things: stop sequences, tools, letters of a name. A list that
// has too many messages is shorter once it is folded.
func fewOthers(text string) bool {
	return !messages().MatchString(text) && slices.ContainsFunc(limits().FindAllStringSubmatch(text, -1), func(m []string) bool {
		n := number(thousands.Replace(m[1]))
		return n > 0 && n < leastUnsure
	})
}

// limits match numbers behind the words that make them limits, where no larger unit
// follows.
var (
	limits = expression(`(?i)(?:most|up to|max\w*|limit|exceeds?|than)(?:\W+(?:a|an|of|is|the|to|or|equal|only|with|length|size|number|count|tools|maximum|limit))*` +
		`\W+(\d[\d.,_]*)(?:$|[^\w.,%]+(?:$|[^\dkm]|m[aeo]))`)
	messages = expression(`(?i)\s(?:messages|turns)\b`)
)

// numbers match also those whose thousands stand apart as in some languages: 70.120.
var (
	numbers   = expression(`\d[\d.,]* ?(?:ms|s|sec\w*|min\w*)\b|\d{1,3}(?:[.'’\x{a0}\x{202f}]\d{3})+\b|\d[\d,_]*`)
	thousands = strings.NewReplacer(".", "", "'", "", "’", "", "\u00a0", "", "\u202f", "")
)

// quoted matches what an error quotes at length, and the names of parameters that
// limit answers.
var quoted = expression("'[^']{20,}'|(?s)\".{20,}\"|`[^`]{20,}`|max_(?:completion_|output_|new_)?tokens")

// rates match how much may be sent at a time.
const rates = `(?i:per (?:sec|min|hour|day)|(?:tokens?|requests?|\d) ?/ ?(?:s|min|h|hour|day)\b|\b[tr]p[md]\b)`

var ofRates = expression(rates)

// otherThings matches what else may be too long, too large or too many, also for a
// while.
var otherThings = expression(`(?i)bytes|\d ?[mk]i?b\b|image|picture|pixel|audio|video|thinking\W?budget|jinja|template|` + rates + `|` +
	`quota|daily|billing|balance|credit|额度|tool_calls|'tools'|schema|file ?name|function(?:'s)? name|parameter name|vocab|token ids?\b|` +
	`temperature|headers?\b|\bur[il]\b|\b(?:name|description|title)s?\b.{0,60}too long|model is too|stop\W?(?:seq|word)|t(?:ook|akes|aking) too long|logprobs|penalty|input should be|queue|concurren|overloaded_|(?:server|model|service|engine)[\w ]* overload|in flight|time[ds]? ?out|deadline|\d ?ms\b`)

// promptWords match what a prompt is made of, and how it is measured, in the
// languages in which servers are written. Most of them say "token".
var promptWords = expression(`(?i)token|prompt|context|\binput|sequence|conversation|\blength|messages are|histor|n_ctx|` +
	`kontext|konteks|eingabe|verlauf|unterhaltung|gespräch|contexte|contexto|contesto|conversaci|conversazion|entrée|entrada|invoer|gesprek|indata|vstup|syöte|bemenet|masukan|percakapan|` +
	`kehot|متن|länge|longueur|longitud|lunghezza|comprimento|lengte|długoś|\btexte?\b|\btexto|\btesto\b|\btekst|text[eo]n\b|metin|κείμεν|` +
	`ngữ cảnh|đầu vào|токен|контекст|запрос|запит|ввод|длин|довжин|текст|النص|טקסט|इनपुट|文本|テキスト|텍스트|` +
	`girdi|\bistem\b|belirteç|входът|\bunos\b|ulaz|inndata|sisend|ievad|įvest|\binntak|` +
	`上下文|对话|對話|会话|长度|長度|令牌|词元|输入|輸入|提示词|トークン|コンテキスト|プロンプト|入力|会話|문맥|컨텍스트|토큰|프롬프트|입력|대화`)

// tokenWords are those of promptWords that answers are made of, too.
var tokenWords = expression(`(?i)token|токен|令牌|词元|トークン|토큰|\btexte?\b|\blength`)

// requestWords match what is refused for other things, too: it speaks of length where
// it is too long.
var requestWords = expression(`(?i)message|\brequests?\b|query|\bchat|content\b|submission|thread|payload|discussion|inhalt|nachricht|anfrage|requête|mensaje|solicitud|mensagem|solicitação|messaggi|richiesta|bericht|verzoek|` +
	`meddeland|forespørsel|begäran|besked|zpráv|požadav|wiadomoś|żądani|viesti|pyyntö|üzenet|kérés|mesaj|iste[kğ]|cerere|pesan|permintaan|nội dung|tin nhắn|yêu cầu|сообщени|повідомлен|` +
	`消息|訊息|内容|请求|請求|メッセージ|リクエスト|메시지|요청|رسال|طلب|संदेश|अनुरोध|μήνυμα|ข้อความ|คำขอ|הודע|בקש|zapytan|zahtjev|zahtev|захтев|заявк|päring|pieprasījum|užklaus`)

// longWords match that something is too long.
var longWords = expression(`(?i)too (?:long|large|big|much)|(?:long|larg|great|bigg)er than|zu (?:lang|groß)|länger als|größer als|trop (?:long|grand)|` +
	`(?:demasiado|muy) (?:larg|grand)|muito (?:long|grand)|(?:long|grand)\w+ demais|troppo (?:lung|grand)|te (?:lang|groot)|för (?:lång|stor)|for (?:lang|stor)|` +
	`příliš (?:dlouh|velk)|liian (?:pitk|suur)|túl (?:hossz|nagy)|terlalu (?:panjang|besar)|quá (?:dài|lớn)|слишком (?:длин|больш)|надто (?:довг|велик)|завелик|задовг|твърде (?:дълъг|дълг|голям)|(?:пре|pre)(?:дугач|dugač|velik|dolg|велик)|príliš (?:dlh|veľk)|liiga (?:pik|suur)|pārāk (?:gar|liel)|per (?:ilg|didel)|of (?:langt?\b|stór)|` +
	`(?:za|zbyt) dług|prea (?:lung|mare)|massa (?:llarg|gran)|بیش از حد طولانی|çok uzun|过长|過長|太长|太長|長すぎ|너무 [길깁긴]|طويل|बहुत लंब|πολύ μεγάλ|ยาวเกิน|ארוכ`)

// windowNames match the names that servers give to their window.
var windowNames = expression(`max_(?:model_len|seq_len|total_tokens|input\w*|prompt\w*|context\w*|position\w*)`)

// ofAnswers match what else a request is refused for with two numbers of that size.
var ofAnswers = expression(`(?i)max_|completion|output|answer`)

// tooMuchWords match that there is too much of it.
var tooMuchWords = expression(`(?i)too many|exceed|more than|at most|maximum|limit|not fit|shorten|shorter|overflow|no longer fit|enough room|` +
	`zu viel|überschr|höchst|grenze|trop de|dépass|limite|` +
	`demasiad|supera|excede|límite|máxim|muito|troppo|eccede|te veel|överskrid|overskrid|příliš|překr|` +
	`liian|ylittä|túl |terlalu|melebihi|vượt quá|превы|переви|слишком|занадт|лимит|предел|przekr|aşı|` +
	`超过|超出|超過|过多|上限|超え|多すぎ|초과|너무|제한`)
