package clients

// startClaude sets a token where Claude Code would ask for a login that nobody needs.
func startClaude(g Given, s *Started) {
	s.Env["ANTHROPIC_BASE_URL"] = g.origin()
	if !g.set("ENABLE_TOOL_SEARCH") {
		s.Env["ENABLE_TOOL_SEARCH"] = "true" // which a base URL of one's own switches off
	}
	const token = "ANTHROPIC_AUTH_TOKEN"
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
}
