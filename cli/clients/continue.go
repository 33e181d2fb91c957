package clients

// startContinue gives Continue a configuration in the place of the user's.
func startContinue(g Given, s *Started) {
	switch {
	case g.has("--config"):
		s.say("--config is Continue's own choice: it is not told of the proxy")
		return
	case g.Model == "":
		s.unchosen("Continue")
		return
	}
	type model struct {
		Name     string   `json:"name"`
		Provider string   `json:"provider"`
		Model    string   `json:"model"`
		Base     string   `json:"apiBase"`
		Key      string   `json:"apiKey,omitempty"`
		Roles    []string `json:"roles"`
	}
	file, err := g.write("continue.yaml", map[string]any{ // JSON is YAML
		"name": "Laconic", "version": "0.0.1", "schema": "v1",
		"models": []model{{g.Model, "openai", g.Model, g.Base, g.key(), []string{"chat", "edit", "apply"}}},
	})
	if err != nil {
		s.say("Continue is not told of the proxy: %v", err)
		return
	}
	s.Args = append(s.Args, "--config", file)
	s.say("Continue reads a configuration of this run in the place of yours (--config FILE is your own, with %s as its apiBase)", g.Base)
}
