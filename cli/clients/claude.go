package clients

// startClaude sets a token where Claude Code would ask for a login that nobody needs.
func startClaude(g Given, s *Started) error {
	s.Env["ANTHROPIC_BASE_URL"] = g.origin()
	const token = "ANTHROPIC_AUTH_TOKEN"
	const answer = "CLAUDE_CODE_MAX_OUTPUT_TOKENS"
	if g.Elsewhere && !g.set(answer) {
		s.Env[answer] = "4096" // other servers have small windows, and it would ask for 32,000 tokens
		s.say("Claude Code asks for answers of at most 4,096 tokens in this run (%s sets another limit)", answer)
	}
	switch {
	case g.Key != "":
		s.Env[token] = g.Key
	case g.AnyKey && !g.set(token, "ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"):
		s.Env[token] = anyKey
		s.say("Claude Code uses no login in this run, because the upstream wants none (%s would be sent)", token)
	}
	// Its own choice is among Anthropic's models, which a configuration does not replace.
	if g.Chosen && !g.has("--model") && !g.set("ANTHROPIC_MODEL") {
		s.Env["ANTHROPIC_MODEL"] = g.Model
	}
	return nil
}
