package redact

import (
	"strings"
	"testing"
)

// masks returns what compares a text, masked, with what is wanted.
func masks(t *testing.T) func(in, want string) {
	return func(in, want string) {
		t.Helper()
		if got := Text(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestSecretsAreMasked(t *testing.T) {
	f := masks(t)
	f("key sk-proj-abcDEF123456789012345678 end", "key [secret] end")
	f("sk-ant-api03-abcdefghijklmnop_qrst-uv", "[secret]")
	f("Authorization: Bearer abcdefgh.ijklmnop", "Authorization: Bearer [secret]")
	f("postgres://app:hunter22@db:5432/x", "postgres://app:[secret]@db:5432/x")
	f(`{"api_key": "abcdef123456", "port": 8080}`, `{"api_key": "[secret]", "port": 8080}`)
	f(`{\"password\":\"hunter22x\"}`, `{\"password\":\"[secret]\"}`)
	f("password:      hunter22x", "password:      [secret]")
	f("db_password   = hunter22x", "db_password   = [secret]")
	f(`{"access_token":"abcdef123456","refresh_token":"ghijkl123456"}`, `{"access_token":"[secret]","refresh_token":"[secret]"}`)
	f("AccountName=a;AccountKey=abcd1234efgh==", "AccountName=a;AccountKey=[secret]")
	f("a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb", "a\n[secret]\nb")
	f("DISCORD_TOKEN=MTAx.Gab3cD.xyz-0123456789", "DISCORD_TOKEN=[secret]")
	f("-H 'authorization: ApiKey a1b2c3d4e5f6'", "-H 'authorization: ApiKey [secret]'")
	f("Authorization: 0123456789abcdef0123", "Authorization: [secret]")
	f("OPENAI=sk-proj-abc_def-ghi_jkl-mno_pqrs-tuvw_xyz1-23456 x", "OPENAI=[secret] x")
	f(`{"token":"f3a9c1d2e4b5a697"}`, `{"token":"[secret]"}`)
	f(`{\"token\": \"f3a9c1d2e4b5a697\"}`, `{\"token\": \"[secret]\"}`)
	f("X-Auth-Key: 0123456789abcdef01", "X-Auth-Key: [secret]")
	f("Server=db;Uid=app;pwd=hunter22x;Port=1", "Server=db;Uid=app;pwd=[secret];Port=1")
	f(`"pwd": "hunter22x"`, `"pwd": "[secret]"`)
	f("curl -s -u user:pass1 https://example.com", "curl -s -u user:[secret] https://example.com")
	f("curl \\\n --user 'a:p@ss/1' -o x", "curl \\\n --user 'a:[secret]' -o x")
	f("gsk_abcdefghijklmnop1234", "[secret]")
	f("xai-abc-defghijklmnopqrst1", "[secret]")
	f("nvapi-abc_defghi-jklmnop-qrst1_uvwx-yz", "[secret]")
	f("https://api.telegram.org/bot123456789:AAabcdefghijklmnopqrstuvwxyz-_01234/getMe", "https://api.telegram.org/bot123456789:[secret]/getMe")
	f("12:AAabcdefghijklmnopqrstuvwxyz-_01234", "12:AAabcdefghijklmnopqrstuvwxyz-_01234")
	f("https://x.blob.core.windows.net/c?sv=2024&sig=abcdefghijklmnop%2Bqrstuvwxyz0123456789%3D&se=1", "https://x.blob.core.windows.net/c?sv=2024&sig=[secret]&se=1")
	f("xapp-1-A012B3C4D5-123456", "[secret]")
	f("SG.abcdefghijklmnop1234_-.abcdefghijklmnop1234", "[secret]")
	f("eyJhbGciOiJkaXIifQ.eyJzdWIiOi.aaaa.bbbb.cccc. Next", "[secret]. Next")
	f("login(password=p@ss,word1, port=80)", "login(password=[secret], port=80)")
	f("password=hunter22x,port=80", "password=[secret],port=80")
	f("password=hunter22x&port=80", "password=[secret]&port=80")
	f(`password = "correct horse battery staple"; x`, `password = "[secret]"; x`)
	f(`password := 'it is a "phrase"' x`, `password := '[secret]' x`)
	f(`{\"password\":\"a \\\"b\\\" c\",\"d\":1}`, `{\"password\":\"[secret]\",\"d\":1}`)
	f(`env["DB_PASSWORD2"] = "hunter22x"`, `env["DB_PASSWORD2"] = "[secret]"`)
	f("postgres://app:p@ss@db:5432/x", "postgres://app:[secret]@db:5432/x")
	f("-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----", "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----")
	for _, plain := range []string{
		"the task sk-1 is done", "see src/secret/handler.go:12", "tokens: 4096", "max_tokens=4096", "a password is needed",
		"commit 0123456789abcdef0123456789abcdef01234567", "http://127.0.0.1:8080/v1", "password: \n", "skipping-the-tests-in-this-run-is-fine",
		"max_tokens: 4096", "token count 128", "token: 128", `"total_tokens": 1234567890123456`, "the tokenizer: o200k_base_of_2024_05",
		"token_count=12345678901234567890", "password must be 8 characters", "keyword: select_1234567890123", "tokens per second: 1234567890123456",
		"token = lexer.next(state, 1234567890)", "if token == parser.tokens[12345678]", `"nextPageToken": "CAUQAA1234567890abc"`,
		"token: an unexpected one at line 12", "PWD=/home/user/project1", "pwd: permission denied", "run pwd first",
		"basic understanding of it", "Basic Authentication is off", "bearer authentication", "Authorization: users must log in", "authorization: required",
		"sk_buff_head_init_and_free_all_of_it", "sk-loading-spinner-wrapper-inner", "npm_config_registry_of_this", "gsk_render_node_get_bounds",
		"docker run -u 1000:1000 alpine", "git push -u origin:main", "curl -s https://example.com:8080/a -o b",
		"key: value of 1234567890123456", "primary_key=user_account_0000000001", "https://example.com/a:b/@scope/name", "SG.x.y", "eyJ.a.b",
		"the author: me, the authors: 0123456789abcdef",
	} {
		f(plain, plain)
	}
}

// TestWhatIsCalledASecret, and what only looks so.
func TestWhatIsCalledASecret(t *testing.T) {
	f := masks(t)
	f("proxy basic dXNlcjpwYXNzd29yZA==", "proxy basic [secret]")
	f("Basic dXNlcjpwYXNzd29yZDE, as said", "Basic [secret], as said")
	f("Basic dXNlcjpwYXNzd29yZDE.", "Basic [secret].")
	f("bearer abcdefghijklmnopqrstuvwx", "bearer [secret]")
	f("Authorization: Bearer abcdefghijklmnopqrstuvwx", "Authorization: Bearer [secret]")
	f("authorization: 0123456789abcdef.0123456789", "authorization: [secret]")
	f("authorization: 0123456789abcdef.x12345", "authorization: [secret]")
	f(`passphrase: "correct horse battery staple of mine too"`, `passphrase: "[secret]"`)
	f(`'password' => 'hunter22x',`, `'password' => '[secret]',`)
	f(`if password == "hunter22x" {`, `if password == "[secret]" {`)
	f("password: Passw0rd!x", "password: [secret]")
	f("password: strings22", "password: [secret]")
	f("DB_PASS=hunter22x", "DB_PASS=[secret]")
	f(`"smtp_pass": "hunter22x"`, `"smtp_pass": "[secret]"`)
	f("SMTP_PASS: hunter22x\nSMTP_PASS2='a b c d'", "SMTP_PASS: [secret]\nSMTP_PASS2='[secret]'")
	f("AZURE_OPENAI_KEY=0123456789abcdef0123456789abcdef", "AZURE_OPENAI_KEY=[secret]")
	f(`"MISTRAL_KEY": "abcdEFGH1234567890abcd"`, `"MISTRAL_KEY": "[secret]"`)
	f("mysql -u root --password hunter22x db", "mysql -u root --password [secret] db")
	f(`x --password "correct horse"`, `x --password "[secret]"`)
	f(`{"cmd":"x --password \"correct horse\" y"}`, `{"cmd":"x --password \"[secret]\" y"}`)
	f("**Password:** hunter22x", "**Password:** [secret]")
	f("- **Password**: hunter22x", "- **Password**: [secret]")
	f("the **API key:** abcdef0123456789abcdef.", "the **API key:** [secret]")
	f("Cookie: theme=dark; session=0123456789abcdef\r\nHost: a", "Cookie: theme=[secret]\r\nHost: a")
	f("Cookie: __utma=1.19; EPi:Visits=1,2012-02-28; Crm=5b707226b956", "Cookie: __utma=[secret]")
	f("password: ${DB_PASSWORD:-hunter22x}", "password: [secret]}")
	f("Set-Cookie: sid=0123456789abcdef; Path=/; HttpOnly", "Set-Cookie: sid=[secret]; HttpOnly")
	f(`-H 'Cookie: sid=0123456789abcdef' x`, `-H 'Cookie: sid=[secret]' x`)
	for _, plain := range []string{
		"basic package.json", "basic tests/test_auth.py", "basic src/components/Button.tsx", "basic docker-compose.yml", "basic src/components/Button22",
		"Basic Authentication", "basic abcdefghijklmnop=", "bearer authentication", "bearer token-based-authentication-of-it",
		"authorization: src/middleware/auth/user2.ts", "authorization: https://docs.example.com/reference/auth2", "authorization: see src/middleware/auth2.ts:12",
		"authorization: see https://docs.example.com/auth2",
		`"password": "Password must be at least 8 characters long"`, `"password": "must be at least 8 characters"`, `"password": "password is required"`,
		"password == confirmPassword", "if (password === confirmation1) {", "password => password.length > 8", "password=process.env.DB_PASSWORD",
		"password = os.environ['DB_PASSWORD']", `password: os.getenv("DB_PASSWORD")`, "password=get_password(user_id)", "password: string", "password: string;",
		"password?: string", "password: Optional[str] = None", "password: string | null", `"password": "string"`, "test_reset_password: PASSED", "test_reset_password: FAILED",
		"tests_pass: 12345678", "first_pass = run1234()", "RENDER_PASSES=12345678", "DB_PASS=$(cat x)", "DB_PASS: string", "Secret: []byte(s.Secret)", "api_key: ${OTHER_KEY}", `api_key: "${OTHER_KEY}"`,
		"CACHE_KEY=0123456789abcdef0123456789abcdef", "PUBLIC_KEY=0123456789abcdef0123456789abcdef", "cache_key=0123456789abcdef0123456789abcdef",
		"SETTINGS_KEY=app_settings_of_user_12", "SORT_KEY_ID=0123456789abcdef0123", "MY_KEY: see docs/12",
		"the --password option is read first", "--password flag", "--password $DB_PASSWORD2", "--password <password1>", "--password-file /run/secrets/db1", "--password",
		"**Password:** see below", "password ** 123456", "**Password** is needed",
		"API key: see docs/setup.md", "API key: https://example.com/0123456789abcdef01", "API key 0123456789abcdef01 of", "API keys: 12345678901234567890",
		"Cookie: theme=dark", "cookie = parse(header, 1234567890)", "the cookie: a small one", "cookies: session=1", "cookie: session=make_session(12345)", "cookie=none",
	} {
		f(plain, plain)
	}
}

// TestTokensThatNameTheirVendorAreMasked wherever they stand, and not what only
// begins so.
func TestTokensThatNameTheirVendorAreMasked(t *testing.T) {
	const tail = "A1b2C3d4E5f6G7h8J9k0L1m2N3p4Q5r6"
	for _, prefix := range []string{
		"github_pat_", "glpat-", "glrt-", "gldt-", "glptt-", "hvs.", "hvb.", "GOCSPX-", "ya29.", "pypi-AgE",
		"nvapi-", "pplx-", "whsec_", "shpat_", "shpss_", "glsa_", "lin_api_", "ntn_", "rubygems_", "sntryu_", "PMAK-", "dapi",
	} {
		if got := Text("see " + prefix + tail + ", that"); got != "see [secret], that" {
			t.Errorf("%s: %q", prefix, got)
		}
		for _, plain := range []string{prefix, prefix + "of-a-file.go", "x" + prefix + "is_it"} {
			if got := Text(plain); got != plain {
				t.Errorf("%s: %q", plain, got)
			}
		}
	}
	if got := Text("dop_v1_0123456789abcdef0123456789abcdef"); got != mask {
		t.Error(got)
	}
}

// TestALongSecretIsMaskedToItsEnd, further than a pattern reads.
func TestALongSecretIsMaskedToItsEnd(t *testing.T) {
	long := strings.Repeat("abcdefgh1_", 200)
	for _, before := range []string{"Authorization: Bearer ", "password=", "sk-", "api_token: "} {
		if got := Text(before + long + " end"); got != strings.TrimPrefix(before, "sk-")+"[secret] end" {
			t.Errorf("%s: %q", before, got)
		}
	}
}

func TestPrivateKeysAreMasked(t *testing.T) {
	f := masks(t)
	const head, foot, line = "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"
	f(head+"\n"+line+"\n"+line+"\nab==\n"+foot+"\nmore", "[secret]\nmore")
	f(`{"key":"`+head+`\n`+line+`\r\n`+line+`\n`+foot+`\n","port":1}`, `{"key":"[secret]\n","port":1}`)
	f("  k = \""+head+"\\n\" +\n    \""+line+"\\n\" +\n    \""+foot+"\"", "  k = \"[secret]\"")
	f("     1→"+head+"\n     2→"+line+"\n     3→"+foot+"\n     4→x", "     1→[secret]\n     4→x")
	f("1:"+head+"\n2:"+line+"\n3:...", "1:[secret]\n3:...")
	f("-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B\n\n"+line+"\n-----END RSA PRIVATE KEY-----", "[secret]")
	f("-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2.0.22 (GNU/Linux)\n\n"+line+"\n=abcd\n-----END PGP PRIVATE KEY BLOCK-----", "[secret]")
	f(head+"\n"+line+"\n"+line+"\nab=\n\nThat was it, \"no end\". More text.", "[secret]\n\nThat was it, \"no end\". More text.")
	f(head+"\n"+line+"\ncut", "[secret]")
	f(head+`\n`+line+`\n`+line+` … cut off`, "[secret] … cut off")
	f(head+"\n"+line+"\n-----END CERTIFICATE-----", "[secret]\n-----END CERTIFICATE-----")
	f(head+"\n"+line+"\n"+head+"\n"+line+"\n"+foot, "[secret]\n[secret]")
	for _, plain := range []string{
		"if strings.Contains(s, \"" + head + "\") {\n\treturn errKey // a key\n}\n" + strings.Repeat("x := parse(s)\n", 20) + "const end = \"-----END CERTIFICATE-----\"",
		"It looks for " + head + " in the file and then goes on with other things, as said", head, head + "\n", head + "\nMIIE\n\nbut no end",
		head + "\n<your key here>\n" + foot, "-----BEGIN OPENSSH PRIVATE KEY-----\ncut off", head + "\n-----END CERTIFICATE-----",
		"-----BEGIN PUBLIC KEY-----\n" + line + "\n-----END PUBLIC KEY-----",
	} {
		f(plain, plain)
	}
}

// TestSecretsBehindAnEscapeAreMasked: calls and results are JSON as it was
// sent, where a new line is a backslash and a letter.
func TestSecretsBehindAnEscapeAreMasked(t *testing.T) {
	f := masks(t)
	f(`{"content":"keys:\nsk-proj-abcDEF123456789012345678\nghp_abcdefghijklmnopqrstuvwxyz0123456789\nAKIAIOSFODNN7EXAMPLE"}`,
		`{"content":"keys:\n[secret]\n[secret]\n[secret]"}`)
	f(`{\"a\":\"x\\tghp_abcdefghijklmnopqrstuvwxyz0123456789\"}`, `{\"a\":\"x\\t[secret]\"}`)
	f(`"a\r\nBearer abcdefgh.ijklmnop"`, `"a\r\nBearer [secret]"`)
	f(`"\u003cAKIAIOSFODNN7EXAMPLE\u003e \u0026AKIAIOSFODNN7EXAMPLE"`, `"\u003c[secret]\u003e \u0026[secret]"`)
	f(`"\feyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc_def-123"`, `"\f[secret]"`)
	for _, plain := range []string{
		"nghp_abcdefghijklmnopqrstuvwxyz0123456789", "u0022ghp_abcdefghijklmnopqrstuvwxyz0123456789", "\\xghp_abcdefghijklmnopqrstuvwxyz0123456789",
		"\\u00zzghp_abcdefghijklmnopqrstuvwxyz0123456789", "003cAKIAIOSFODNN7EXAMPLE", "n", "\\n", "t",
	} {
		f(plain, plain)
	}
}

// TestMaskingIsLinear: a tool's output may be made of the very words that are
// looked for, and one client's must not stop the summaries of all. What the
// expressions are given is at most mostGiven times the text.
func TestMaskingIsLinear(t *testing.T) {
	const head = "-----BEGIN PRIVATE KEY-----"
	repeated := []string{
		"secret_", "secret-", "secret ", "secret:", "secret=a ", `secret="`, `secret='a secret="`, `secret=\"a secret="`, "password=a,b=",
		"password=a,", "password=a&b", "password:\n", "password\\\\", "secret=,,,,", "secret=a&a&", "secret=a,abcdefghijklmnopqrstuvwxyz.",
		"token=", "token_", "tokentoken:", "token token", "auth_key=a ", "pwd=", "pwd=a pwd:", ":pwd", "pwd://", "pwd=/",
		"eyJ-", "eyJ.", "eyJaaaaaaaa.", "eyJaaaaaaaa.aaaaaaa.", "eyJ", "SG.", "SG.aaaaaaaaaaaaaaaa.",
		"sk-", "sk_-", "sk-sk_pk_", "sk-a.", "ghp_", "xox", "xoxb-", "xai-", "AKIA", "AKIA ",
		"bearer ", "bearer\t", "basic a", "authorization: ", "authorization: a ", "Authorization:a\t", "authorization",
		"://", "://a:", "://a:b@", "://a@b:", ":", "curl ", "curl -u ", "curl -u a", "curl\n", "curl -u a: -u ",
		"password=password(", "password=a(,", `password="a b c d e f`, `"password":"password `, "password==", "password=>'", "password: string", "password**:** ", "password****",
		"DB_PASS=", "db_pass=a&", "_PASS2", "_PASS=a(", "A_KEY=", "_KEY:_KEY", "_KEY=0123456789abcdef0", "_KEY=0123456789abcdef_a_", "api key:", "api key: a", "api key api key: 0123456789abcdef0",
		"--password ", "--password a", "--password a1", "--password '", `--password \"`, "--password\t", "cookie: a=", "cookie:a=1;", "cookie: a=b;cookie: ", "cookie=", "Cookie: a=1; b", "cookie: a=;a=", "cookie:a=;", "cookie:a=;cookie", "cookie:;", "cookie: a=,", "cookie:a=cookie:",
		"basic dXNlcjpw", "basic dXNlcjpw.", "bearer a", "bearer 1", "authorization: a://1authorization: ", "authorization: 0123456789abcdef.ts", "authorization=0123456789abcdef.",
		head, head + "\n", head + "a\n", head + "\nVersion: 1\n", head + "----", head + "-----BEGIN ", "-----begin ", head + strings.Repeat("1", 15) + "-----END ",
		head + strings.Repeat("a", 16) + "\n", head + "12345 ", head + "\\n", head + "-----END PRIVATE KEY",
		"-----BEGIN ", `-----BEGIN PRIVATE KEY-----().`, "-----BEGIN PRIVATE KEY-----()-----END ", "-----END ",
	}
	for _, p := range all().patterns {
		repeated = append(repeated, p.words...)
		for _, w := range p.words {
			repeated = append(repeated, strings.ToUpper(w)+"=", w+"a ", w+"0123456789", w+`\\"`, strings.TrimSpace(w)+":'")
		}
	}
	repeated = append(repeated, strings.Join(repeated, ""), strings.Join(repeated, " "))
	const mostGiven = 128
	f := func(name, s string) {
		t.Helper()
		if _, given := secrets(s); given > mostGiven*len(s) {
			t.Errorf("%.60q: %d bytes are given for each", name, given/len(s))
		}
	}
	size := 8 << 10
	if testing.Short() {
		size = 4 << 10
	}
	for _, r := range repeated {
		f(r, strings.Repeat(r, size/len(r)+1))
		f(r+" once", r+strings.Repeat("a", size))
		f(r+" and spaces", r+strings.Repeat(" ", size))
		f(r+" and slashes", strings.Repeat(r+strings.Repeat(`\`, 100), size/128))
	}
}
