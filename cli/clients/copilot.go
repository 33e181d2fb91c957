package clients

func startCopilot(g Given, s *Started) error {
	if g.Model == "" && !g.set("COPILOT_MODEL") {
		return errNoModel
	}
	s.Env["COPILOT_PROVIDER_BASE_URL"] = g.Base
	if key := g.key(); key != "" {
		s.Env["COPILOT_PROVIDER_API_KEY"] = key
	}
	if g.Model != "" {
		s.Env["COPILOT_MODEL"] = g.Model
	}
	return nil
}
