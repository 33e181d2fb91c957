package view

import (
	"fmt"
	"strings"

	"laconic/compact"
	"laconic/compact/quote"
)

// Comparison is a conversation before and after, request by request, with its
// texts.
type Comparison struct {
	File   string  `json:"file"`
	ID     string  `json:"id"`
	Model  string  `json:"model,omitempty"`
	Policy string  `json:"policy"`
	Budget string  `json:"budget"` // its name
	Tokens int     `json:"tokens"`
	Fixed  int     `json:"fixed"`
	Cost   float64 `json:"cost"` // the bill relative to sending everything
	Epochs int     `json:"epochs"`
	// Messages are the client's, and Said what each says.
	Messages []Message `json:"list"`
	Said     [][]Piece `json:"said"`
	// Points are all requests, and Changes those that are not the one before it with
	// the client's new messages at its end.
	Points  []Point  `json:"points"`
	Changes []Change `json:"changes"`
	// Texts are what pieces point to.
	Texts []string `json:"texts"`
	// Missing says what is not there, because it would be too much.
	Missing []string `json:"missing,omitempty"`

	known    map[string]int // index in Texts
	room     int            // bytes of texts that may follow
	cut      int            // texts that are not whole
	cutBytes int
}

// Piece is one text of a message.
type Piece struct {
	// Kind says what the text is; "": what was said. A picture, a sound or a file has
	// its size here, and no text.
	Kind string `json:"kind,omitempty"`
	Text int    `json:"text"`          // index in Texts; -1: none
	Cut  int    `json:"cut,omitempty"` // bytes that are missing at its end
}

// Change is a request that changed something. Its Messages are the first of the
// conversation's.
type Change struct {
	Number int `json:"number"` // from 1
	Before int `json:"before"`
	Sent   int `json:"sent"`
	Cached int `json:"cached"`
	// First is the number of the first epoch that began with it, among Began.
	First        int                   `json:"first,omitempty"`
	Began        int                   `json:"began,omitempty"`
	Messages     int                   `json:"messages"`
	MessagesSent int                   `json:"messages_sent"`
	StageCounts  []compact.StageReport `json:"stage_counts,omitempty"`
	OtherCount   int                   `json:"other_count,omitempty"`
	*Request
	// Texts are what is said by the messages that the client did not send so, by their
	// index in the list that is sent, and by the record as -1.
	Texts map[int][]Piece `json:"sent_texts,omitempty"`
}

// Bounds of a comparison's texts, in bytes.
const (
	mostText    = 3 << 20
	longestText = 48 << 10
	excerpt     = 150 // of each text behind mostText
	longestName = 160
)

// Piece returns a piece, whose text is kept once.
func (c *Comparison) Piece(kind, text string) Piece {
	p := Piece{Kind: clipped(kind), Text: -1}
	if text == "" {
		return p
	}
	n, known := c.known[text]
	if !known {
		if c.known == nil {
			c.known, c.room = map[string]int{}, mostText
		}
		most := longestText
		if c.room <= 0 {
			most = excerpt
		}
		short := quote.First(text, most)
		n = len(c.Texts)
		c.known[text] = n
		c.Texts = append(c.Texts, short)
		c.room -= len(short)
		if len(short) < len(text) {
			c.cut++
			c.cutBytes += len(text) - len(short)
		}
	}
	p.Text, p.Cut = n, len(text)-len(c.Texts[n])
	return p
}

// Miss notes n things that are not there.
func (c *Comparison) Miss(n int, format string, args ...any) {
	if n > 0 {
		c.Missing = append(c.Missing, fmt.Sprintf(format, args...))
	}
}

// Finish notes what of texts is missing, and makes all texts legal.
func (c *Comparison) Finish() {
	c.Miss(c.cut, "the rest of %d long texts: %d bytes", c.cut, c.cutBytes)
	c.ID, c.Model = clipped(c.ID), clipped(c.Model)
	c.known = nil
}

// clipped returns a name, cut where nobody would read on.
func clipped(name string) string {
	if short := strings.ToValidUTF8(quote.First(name, longestName), "\uFFFD"); len(short) < len(name) {
		return short + "…"
	}
	return name
}
