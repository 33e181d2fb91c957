package cli

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// manCommand writes manual pages. It is for packagers, and not listed.
func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "write a manual page of each command into a folder",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("it takes one folder: laconic man DIR")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root := cmd.Root()
			root.InitDefaultHelpCmd()
			root.InitDefaultCompletionCmd()
			root.DisableAutoGenTag = true
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "laconic", Manual: "Laconic", Date: builtAt()}, args[0])
		},
	}
}

// builtAt returns the time of the commit that was built, or nil: then pages have
// the time of SOURCE_DATE_EPOCH, or today's.
func builtAt() *time.Time {
	at, err := time.Parse(time.RFC3339, built().Time)
	if err != nil || os.Getenv("SOURCE_DATE_EPOCH") != "" {
		return nil
	}
	return &at
}
