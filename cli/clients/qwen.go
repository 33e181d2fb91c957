package clients

func startQwen(g Given, s *Started) error {
	if g.Model == "" && !g.has("--model", "-m") {
		return errNoModel
	}
	s.arg(g, "openai", "--auth-type")
	s.arg(g, g.Base, "--openai-base-url")
	s.arg(g, g.Model, "--model", "-m")
	s.say("raise model.generationConfig.contextWindowSize in ~/.qwen/settings.json once (such as %d), so that Qwen Code does not compact by itself first", Believed)
	return nil
}
