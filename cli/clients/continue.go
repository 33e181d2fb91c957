package clients

import (
	"cmp"
	"strings"
)

// startContinue gives Continue a configuration in the place of the user's.
func startContinue(g Given, s *Started) error {
	switch {
	case g.has("--config"):
		return errOwnChoice
	case g.Model == "":
		return errNoModel
	}
	text := strings.Replace(Blocks("continue", g.origin(), g.Model)[0].Text, "sk-…", cmp.Or(g.key(), anyKey), 1)
	file, err := g.File("continue.yaml", text)
	if err != nil {
		return err
	}
	s.Args = append(s.Args, "--config", file)
	s.say("Continue reads a configuration of this run in the place of yours (--config FILE is your own, with %s as its apiBase)", g.Base)
	return nil
}
