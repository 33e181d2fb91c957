package digest

// floors is the room that each class of pieces gets first, as a share of that of the part.
var floors = [classes]float32{userWords: 0.5, answers: 0.45, prose: 0.30, steps: 0.26, rules: 0.24, code: 0.6, prints: 0.12, data: 0.60, findings: 0.10, sources: 0.10}

// What pieces and lines are worth. A weight multiplies another worth.
const (
	leastScore = 0.12 // of a piece that is chosen
	leastRead  = 0.5  // of one that was read, printed or listed: nobody asked about most of a large result
	leastOfAll = 0.03 // of each, where two fifths of a part would stay empty
	foremost   = 1000 // of what is chosen before all else
	ofRule     = 1.5  // of a rule, above other lines
	opening    = 2.5  // of the first sentence of a text, above others
	saidWeight = 2    // of what the assistant says: nothing else tells as much in so few words
	heldWeight = 3    // of rules and of short files, at least, however long ago they were read
	defined    = 1.2  // of what a long file defines, above others
	returned   = 3    // of what a tool returned for what it was asked
	little     = 0.1  // of lines by which a program goes on, of members beside a text, and beyond a limit
	met        = 0.1  // of a name of a result that nobody speaks of
	before     = 0.45 // of a term that a later line has too
	leastNew   = 0.25 // of the terms of a piece, by what they are worth
	mostWanted = 12   // of a term
)

// Lengths, in bytes.
const (
	labelChars   = 200 // of a step's label, and where a part is small
	leastLabel   = 80
	shortEnd     = 180  // of its end
	belowChars   = 48   // of a message that stays
	shortResult  = 140  // of a result, and of what an edit adds, in a label
	shortAnswer  = 48   // of a reply that says little without what it answers
	longPrompt   = 32   // of words of a user that are told once
	longReply    = 80   // of a reply that no user writes again
	shortOutput  = 1200 // of an output that is told whole
	shortObject  = 400  // of a result that is no document
	shortFile    = 2400 // of settings and tasks, which an agent reads once, early
	wholeCode    = 800  // of code that is told whole, also where a part is small
	wholeRegion  = 480  // of a changed region that is told whole
	mostFound    = 1500 // of what a search found
	shortGap     = 40   // of what is told although nothing chose it: a mark of omission takes as much
	longSentence = 80   // by which sentences of a document are counted
	longSaid     = 120  // above which a sentence of the assistant says more, the longer it is
	longEnough   = 14   // of lines that are the same only if one was copied
	longLine     = 440  // of a line that is not read in parts, and where a part is small
	minName      = 4    // of a name that is a term, of a plain word, and of both at most
	minTerm      = 5
	maxName      = 100
	leastRoot    = 160  // that the root of a part has to save in paths
	leastNamed   = 1000 // of a part that names attachments
	smallRoom    = 4000 // of a part in which only users' words come first
)

// Numbers and shares.
const (
	mostClosed    = 16  // lines that end blocks, behind a piece
	mostTries     = 8   // of choosing a part anew until it fits
	mostNear      = 64  // lines that are gone, of which one that is new is perhaps the same
	mostCarried   = 4   // reads that a later part tells more of
	carriedRoom   = 16  // so many times the room is read of each again
	mostMissing   = 64  // calls whose results are looked for in texts
	mostAttached  = 2   // attachments that a part names of which it tells nothing
	namesShare    = 6   // names of steps take one in so many bytes of the room above smallRoom
	readsShare    = 4   // names of reads take one in so many bytes of that beside them
	markShare     = 200 // marks of answers that are left out: one for so many bytes of the room above smallRoom
	fewLines      = 25  // of a file that is written whole: of longer ones what they define comes first
	fewRows       = 16  // of a list whose rows count whole: of longer ones a few say how the others are
	withoutNames  = 3   // rows that one counts as whose columns have no names
	leastTerms    = 1 << 12
	bytesPerTerm  = 384 // that are read, for each term above these
	bytesPerToken = 128 // of events that a record is made of anew, so that this costs less than the messages
	eventBytes    = 256 // of an event or a changed file, beside its texts
)
