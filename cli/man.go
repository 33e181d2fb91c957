package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"laconic/config"
)

// exitCodes documents the exit codes of all commands.
const exitCodes = `0  done; with check and doctor: all is well
1  failed; check: the configuration has mistakes; doctor: there are warnings;
   replay: a policy broke a promise
2  doctor: something fails; replay: something could not be read
   run ends with the code of its command; 126: it cannot be run, 127: there is none
`

// manSections stand in every manual page, in the language of man.
var manSections = ".SH EXIT STATUS\n.nf\n" + exitCodes + ".fi\n" +
	".SH ENVIRONMENT\nLACONIC_CONFIG names the configuration file, and each flag but --help and --version has a variable:\n" +
	"LACONIC_LISTEN is that of \\-\\-listen. OPENAI_API_KEY is the key that doctor and init ask upstreams with.\n" +
	"NO_COLOR switches colors off, SOURCE_DATE_EPOCH dates these pages.\n" +
	".SH FILES\nThe configuration is " + config.Usual + ".\n"

// manCommand writes manual pages, for packagers.
func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "write a manual page of each command into a folder",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			root.InitDefaultHelpCmd()
			root.InitDefaultCompletionCmd()
			root.DisableAutoGenTag = true
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			return writeManual(root, args[0])
		},
	}
}

// writeManual writes the pages of a command and of those below it.
func writeManual(cmd *cobra.Command, dir string) error {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && !c.IsAdditionalHelpTopicCommand() {
			if err := writeManual(c, dir); err != nil {
				return err
			}
		}
	}
	var page bytes.Buffer
	if err := doc.GenMan(cmd, &doc.GenManHeader{Section: "1", Source: "laconic", Manual: "Laconic"}, &page); err != nil {
		return err
	}
	const last = ".SH SEE ALSO" // of which every page has one
	text := strings.Replace(page.String(), last, manSections+last, 1)
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
	return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)
}

func schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "print the JSON schema of the configuration, for editors",
		Long: "Prints the JSON schema of the configuration. Editors with the YAML language server complete and check\n" +
			"a configuration that begins with the line\n\n" +
			"  # yaml-language-server: $schema=/etc/laconic/schema.json\n\n" +
			"after laconic schema > /etc/laconic/schema.json.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(config.Schema)
			return err
		},
	}
}
