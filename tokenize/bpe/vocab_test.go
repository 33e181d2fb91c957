package bpe

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"testing"
)

// The embedded files say the same as OpenAI's rank files: written out in their form,
// they have the checksums that openai/tiktoken pins.
func TestVocabularyIsOpenAIs(t *testing.T) {
	f := func(file, want string) {
		t.Helper()
		v := readVocab(file)
		h := sha256.New()
		for i := range v.len() {
			fmt.Fprintf(h, "%s %d\n", base64.StdEncoding.EncodeToString(v.token(uint32(i))), i)
		}
		if got := fmt.Sprintf("%x", h.Sum(nil)); got != want {
			t.Errorf("SHA-256 of the rank file is %s, want %s", got, want)
		}
	}
	f(o200kMerges, "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d")
	f(cl100kMerges, "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7")
}
