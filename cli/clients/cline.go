package clients

// startCline gives Cline a file of providers in the place of the user's.
func startCline(g Given, s *Started) error {
	const variable, mode = "CLINE_PROVIDER_SETTINGS_PATH", "CLINE_SESSION_BACKEND_MODE"
	switch {
	case g.has("--provider", "-P") || g.set(variable):
		return errOwnChoice
	case g.Model == "" && !g.has("--model", "-m"):
		return errNoModel
	}
	const name = "openai-compatible"
	own := map[string]any{"provider": name, "model": g.Model, "baseUrl": g.Base}
	if key := g.key(); key != "" {
		own["apiKey"] = key
	}
	file, err := g.write("providers.json", map[string]any{
		"version": 1, "lastUsedProvider": name, "modes": map[string]any{},
		"providers": map[string]any{name: map[string]any{"settings": own, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}},
	})
	if err != nil {
		return err
	}
	s.Env[variable] = file
	if !g.set(mode) {
		s.Env[mode] = "local" // a process of Cline's that runs already has read another file
	}
	s.arg(g, name, "--provider")
	s.arg(g, g.Model, "--model", "-m")
	s.arg(g, "off", "--compaction")
	return nil
}
