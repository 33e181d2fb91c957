package clients

func startCopilot(g Given, s *Started) {
	s.Env["COPILOT_PROVIDER_BASE_URL"] = g.Base
	if key := g.key(); key != "" {
		s.Env["COPILOT_PROVIDER_API_KEY"] = key
	}
	if _, chosen := g.Lookup("COPILOT_MODEL"); g.Model != "" {
		s.Env["COPILOT_MODEL"] = g.Model
	} else if !chosen {
		s.unchosen("Copilot CLI")
	}
}
