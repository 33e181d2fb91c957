package clients

func startQwen(g Given, s *Started) {
	if !g.has("--auth-type") {
		s.Args = append(s.Args, "--auth-type", "openai")
	}
	if !g.has("--openai-base-url") {
		s.Args = append(s.Args, "--openai-base-url", g.Base)
	}
	switch {
	case g.Model != "" && !g.has("--model", "-m"):
		s.Args = append(s.Args, "--model", g.Model)
	case g.Model == "" && !g.has("--model", "-m"):
		s.unchosen("Qwen Code")
	}
	s.say("raise model.generationConfig.contextWindowSize in ~/.qwen/settings.json once (such as %d), so that Qwen Code does not compact by itself first", Believed)
}
