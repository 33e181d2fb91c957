package redact

import (
	"encoding/base64"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Between a name and its value, as in name = value, "name": "value",
// name := 'value', env["name"] = "value", {\"name\":\"value\"}, **name:** value.
// name == other and name => other have a value only in quotes.
const (
	nameEnd  = `\\*["']?\]?\*{0,2}[ \t]*`
	gap      = `(?:\*\*[ \t])?(?:[ \t]*|\s)`
	anySign  = nameEnd + `[:=>]+` + gap
	giving   = nameEnd + `(?:=|:[:=>]*)` + gap
	optQuote = `(?:\\*["'])?`
)

// quoted matches a value in quotes that ends on its line, with an escape for
// each level of JSON inside JSON: a quote with as many backslashes as the first
// ends it, and so does one with fewer, which ends what the value is in.
var quoted = func() string {
	const levels = `"((?:[^"\\\n]|\\[^\n])*)"` +
		`|\\"((?:[^"\\\n]|\\{2,}"|\\+[^"\\\n])*?)\\?"` +
		`|\\{2,}"((?:[^"\\\n]|\\{4,}"|\\+[^"\\\n])*?)\\{0,3}"`
	return `(?:` + levels + `|` + strings.ReplaceAll(levels, `"`, `'`) + `)`
}()

// assigned matches a name and its value.
func assigned(name string) *regexp.Regexp {
	return regexp.MustCompile(`^(?i:` + name + `)(?:` + anySign + quoted + `|` + giving + optQuote + `(` + bareValue + `))`)
}

// prefixed matches a token by its prefix, in its case, or else the word that it
// is.
func prefixed(expr string) *regexp.Regexp { return regexp.MustCompile(`^(?:(` + expr + `)|[\w-]+)`) }

const (
	bareValue = `[^\s"'\\;}:=>,&][^\s"'\\;}]*`
	keyValue  = `[\w.~+/=:-]{16,}`
	behindKey = `(?:$|[\s"'\\,;&)\]}` + "`|])"
	field     = `[^\s"'\\]`
)

// patterns returns all that is looked for; 64 at most.
func patterns() []pattern {
	var (
		digit   = regexp.MustCompile(`[0-9]`)
		longRun = regexp.MustCompile(`[0-9A-Za-z]{16}`)
		// invented matches a text that is no word of a language.
		invented = regexp.MustCompile(`[0-9=_]|[a-z][A-Z]|\.[0-9A-Za-z]`)
		// address matches a URL, and a file by its extension, with the number of a
		// line or without.
		address = regexp.MustCompile(`://|.\.[a-z][a-z0-9]{0,3}(?::[0-9]*)?[.,;:)\]}` + "`]*$")
		// nextName matches where a list goes on with another name, or ends.
		nextName = regexp.MustCompile(`[,&](?:$|[\])]|[\w.-]{1,31}[=:])`)
		// ofList matches the end of names whose token or key is public.
		ofList = regexp.MustCompile(`(?i)(?:page|next|continuation|public|primary|foreign|cache|partition|sort|lookup|idempotency)[_-]?$`)

		// A type, an outcome, another name and the expression that returns a
		// password are no passwords.
		words = `(?i)^["']?[*&?\[\]|!.):` + "`" + `]*(?:string|secretstr|optional\[str|varchar|number|boolean|undefined|nullable|required|optional|unknown|` +
			`passed|failed|failure|skipped|pending|success|missing|invalid)[*&?\[\]|!.):` + "`" + `]*$` +
			`|^["']?\$\{[a-z_][a-z0-9_]*\}?$` +
			`|^(?:\[\]|[a-z_][a-z0-9_.:>-]*\(|process\.env\b|os\.environ\b|import\.meta\.env\b)`
		noPassphrase = regexp.MustCompile(words)
		// A quoted one with many blanks is a sentence about passwords.
		noPassword = regexp.MustCompile(words + `|^["'](?:password |[^ ]*(?: [^ ]*){4})`)
	)

	return []pattern{
		{
			kind: "private key", words: []string{"-----begin "}, inside: true, window: 16 << 10, head: "-----BEGIN ",
			expr: regexp.MustCompile(`^(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----` +
				`(?:(?:\s|\\[nr])*(?:(?:Version|Comment|Charset|MessageID|Hash|Proc-Type|DEK-Info): [^\n\\]*(?:\n|(?:\\r)?\\n))+)?` +
				// To its foot, where nothing but a key comes before; else its lines of base64.
				`(?:(?:-{0,4}[0-9A-Za-z+/=\s\\,:|>"'` + "`" + `#→])*-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----` +
				`|(?:` + betweenLines + `[0-9A-Za-z+/=]{16,})+(?:` + betweenLines + `(?:[0-9A-Za-z+/]*=|[0-9A-Za-z+/]+$))?))`),
		},
		{kind: "JSON web token", words: []string{"eyj"}, within: inToken, expr: prefixed(`eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]+){0,3}`)},
		{kind: "token with a prefix", words: []string{"sg."}, within: inToken, window: 128, expr: prefixed(`SG\.[\w-]{16,}\.[\w-]+`)},
		{
			kind: "token with a prefix",
			words: []string{
				"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gldt-", "glrt-", "glptt-", "xox", "aiza", "gocspx-",
				"dop_v1_", "doo_v1_", "dor_v1_", "pypi-", "age-secret-key-1",
			},
			within: inName,
			expr: prefixed(`gh[oprsu]_[\w-]{16,}|github_pat_[\w-]{16,}|gl(?:pat|dt|rt|ptt)-[\w-]{16,}|xox[abeoprs]-[\w-]{10,}|AIza[\w-]{30,}|` +
				`do[opr]_v1_[0-9a-f]{32,}|pypi-AgE[\w-]{16,}|AGE-SECRET-KEY-1[0-9A-Z]{30,}|GOCSPX-[\w-]{20,}`),
		},
		{kind: "token with a prefix", words: []string{"hvs.", "hvb.", "ya29."}, within: inToken, window: 128, expr: prefixed(`hv[bs]\.[\w-]{24,}|ya29\.[\w-]{20,}`)},
		{
			kind: "token with a prefix that names have too", has: longRun,
			words: []string{
				"sk-", "sk_", "pk_", "rk_", "gsk_", "xai-", "npm_", "hf_", "akia", "asia", "xapp-", "pplx-", "nvapi-", "whsec_", "dapi", "pmak-",
				"shpat_", "shpss_", "shpca_", "shppa_", "glsa_", "lin_api_", "ntn_", "pnu_", "rubygems_", "sntryu_",
			},
			within: inName,
			expr: prefixed(`(?:[srp]k_|sk-|gsk_|xai-|npm_|hf_|AKIA|ASIA|xapp-|pplx-|nvapi-|whsec_|dapi|PMAK-|` +
				`shp(?:at|ss|ca|pa)_|glsa_|lin_api_|ntn_|pnu_|rubygems_|sntryu_)[\w-]{16,}`),
		},
		{kind: "token with a prefix and dashes", words: []string{"sk-", "xai-", "nvapi-"}, has: digit, within: inName, expr: prefixed(`(?:sk|xai|nvapi)-[\w-]{20,}`)},
		{kind: "token with a prefix and dashes", words: []string{"xapp-"}, has: digit, within: inName, expr: prefixed(`xapp-[\w-]{10,}`)},
		{
			kind: "token of a Telegram bot", words: []string{":aa"}, inside: true, within: inName, window: 64, except: regexp.MustCompile(`(?:^|[^0-9])[0-9]{0,5}$`),
			expr: regexp.MustCompile(`^:(AA[\w-]{33})(?:$|[^\w-])`),
		},
		{kind: "signature of a URL", words: []string{"sig="}, expr: regexp.MustCompile(`^(?i:sig)=([\w%+/=-]{32,})`)},
		{kind: "bearer", words: []string{"bearer "}, window: 128, has: invented, expr: regexp.MustCompile(`^(?i:bearer)[ \t]+([\w.~+/=-]{12,})`)},
		{kind: "bearer of letters", words: []string{"bearer "}, window: 128, expr: regexp.MustCompile(`^(?i:bearer)[ \t]+([0-9A-Za-z]{20,})(?:[^\w.~+/=-]|$)`)},
		{kind: "basic", words: []string{"basic "}, valid: credentials, expr: regexp.MustCompile(`^(?i:basic)[ \t]+([0-9A-Za-z+/]{12,}={0,2})(?:$|[._~-](?:$|[^0-9A-Za-z])|[^\w.~+/=-])`)},
		{kind: "password in a URL", words: []string{"://"}, inside: true, within: inAuthority, expr: regexp.MustCompile(`^://[^\s/"'<>:@]*:([^\s/"'<>]+)@`)},
		{
			kind: "password of curl", words: []string{"curl "}, inside: true, least: 3, command: true, window: 2 << 10,
			expr: regexp.MustCompile(`(?: -u|--user|--proxy-user)[ =]?["']?[^\s:"'\\]*(?::([^\s"'\\]+))?`),
		},
		{
			kind: "authorization", words: []string{"authorization"}, inside: true, assigned: true, least: 8, has: invented, not: address,
			expr: regexp.MustCompile(`^(?i:authorization)` + anySign + optQuote + field + `{1,32}[ \t]+(` + field + `+)`),
		},
		{
			kind: "authorization", words: []string{"authorization"}, inside: true, assigned: true, least: 16, has: digit, not: address,
			expr: regexp.MustCompile(`^(?i:authorization)` + anySign + optQuote + `(` + field + `+)`),
		},
		{
			kind: "password", inside: true, assigned: true, least: 6, not: noPassword, end: nextName,
			words: []string{"password", "passwd", "secret", "api_key", "api-key", "apikey", "access_key", "access-key", "accesskey", "accountkey", "private_key"},
			expr:  assigned(`(?:password|passwd|secret|api[_-]?key|access[_-]?key|accountkey|private_key)[\w-]*`),
		},
		{kind: "passphrase", words: []string{"passphrase"}, inside: true, assigned: true, least: 6, not: noPassphrase, end: nextName, expr: assigned(`passphrase[\w-]*`)},
		{
			kind: "token of a session", inside: true, assigned: true, least: 6, not: noPassword, end: nextName,
			words: []string{"authtoken", "auth_token", "auth-token", "accesstoken", "access_token", "access-token", "refreshtoken", "refresh_token", "refresh-token", "sessiontoken", "session_token", "session-token"},
			expr:  assigned(`(?:auth|access|refresh|session)[_-]?token[0-9]*`),
		},
		{
			kind: "_PASS of a variable", inside: true, assigned: true, least: 6, not: noPassword, end: nextName,
			words: []string{"_pass", "db_pass", "smtp_pass", "mail_pass", "user_pass", "ftp_pass", "admin_pass"},
			expr:  assigned(`(?-i:_PASS)[0-9]*|(?:db|smtp|mail|user|ftp|admin)_pass[0-9]*`),
		},
		{
			kind: "pwd", words: []string{"pwd"}, inside: true, assigned: true, least: 6, not: regexp.MustCompile(`^["']?(?:[/~.$]|.:)`), end: nextName,
			expr: regexp.MustCompile(`^(?i:pwd)(?:` + anySign + quoted + `|` + nameEnd + `=` + gap + `(` + bareValue + `))`),
		},
		{
			kind: "token or key", inside: true, assigned: true, has: digit, not: regexp.MustCompile("://"), except: ofList,
			words: []string{"token", "auth_key", "auth-key", "authkey", "signing_key", "encryption_key"},
			expr:  regexp.MustCompile(`^(?i:(?:token|auth[_-]?key|signing_key|encryption_key)(?:[\w-]*(?:token|key))?[0-9]*)(?:` + anySign + `\\*["']|` + giving + `)(` + keyValue + `)` + behindKey),
		},
		{
			kind: "_KEY of a variable", words: []string{"_key", "api key"}, inside: true, assigned: true, has: longRun, not: regexp.MustCompile("://|^[^0-9]*$"), except: ofList,
			expr: regexp.MustCompile(`^(?:_KEY[0-9]*|(?i:api key))(?:` + anySign + `\\*["']|` + giving + `)(` + keyValue + `)` + behindKey),
		},
		{kind: "flag in quotes", words: []string{"--password"}, inside: true, least: 6, expr: regexp.MustCompile(`^(?i:--password)[ \t]+` + quoted)},
		{
			kind: "flag", words: []string{"--password"}, inside: true, least: 6, has: digit,
			expr: regexp.MustCompile(`^(?i:--password)[ \t]+([^\s"'\\;},&$<%-][^\s"'\\;},&]*)`),
		},
		{
			kind: "cookie", words: []string{"cookie"}, inside: true, assigned: true, least: 12, has: digit, not: regexp.MustCompile(`\(`),
			expr: regexp.MustCompile(`^(?i:cookie)` + anySign + optQuote + cookieName + `=([^\s"'\\;` + "`" + `]*(?:;[ \t]*` + cookieName + `=[^\s"'\\;` + "`" + `]*)*)`),
		},
	}
}

const (
	cookieName = `[^\s"'\\;` + "`" + `,=()]+`
	// betweenLines are blanks, and what quotes, escapes, joins and numbers the
	// lines of a key in code, diffs and the output of tools: the arrow too.
	betweenLines = `(?:\\[nrt]|[0-9]{0,7}[\s\\,:|>"'` + "`" + `#→-]|\+\s)*`
)

// credentials reports whether s is user:password in base64.
func credentials(s string) bool {
	said, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	return err == nil && utf8.Valid(said) && strings.Contains(string(said), ":")
}
