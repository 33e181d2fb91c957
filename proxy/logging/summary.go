package logging

import (
	"laconic/proxy/summarize"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// summaryFields say what stood in the slot of a request.
func summaryFields(i *summarize.Info) []zap.Field {
	if i == nil {
		return nil
	}
	f := []zap.Field{
		zap.String("summary", i.Outcome), zap.String("summary_model", i.Model),
		zap.Int("summary_spans", i.Spans), zap.Int("summary_digests", i.Digests),
	}
	f = appendText(f, "summary_reason", i.Reason)
	if i.Duration > 0 {
		f = append(f, zap.Duration("summary_wait", i.Duration))
	}
	return f
}

// levelOfJob is the level of a job's line: debug where the summary was there
// already, or is made elsewhere, a warning where the summarizer is at fault.
func levelOfJob(i summarize.JobInfo) zapcore.Level {
	switch {
	case !i.Made && (i.Reason == "" || i.Reason == "elsewhere" || i.Reason == "shutdown"):
		return zap.DebugLevel
	case i.ModelFailed():
		return zap.WarnLevel
	}
	return zap.InfoLevel
}

// logJob writes a line for a summary that the model was asked for.
func logJob(log *zap.Logger, i summarize.JobInfo) {
	line := log.Check(levelOfJob(i), "summary")
	if line == nil {
		return
	}
	f := []zap.Field{
		zap.String("request_id", i.ID), zap.String("model", i.Model), zap.Int("messages", i.Messages),
		zap.Int("source_tokens", i.SourceTokens), zap.Int("pieces", i.Pieces), zap.Int("tries", i.Tries),
		zap.Bool("updated", i.Updated), zap.Duration("duration", i.Duration),
	}
	if i.Unstored {
		f = append(f, zap.Bool("unstored", true))
	}
	line.Write(appendText(f, "error", i.Reason)...)
}

// logErased writes a line for summaries that were erased because another process was
// asked.
func logErased(log *zap.Logger, i summarize.ErasedInfo) {
	f := []zap.Field{zap.String("asked", "another replica"), zap.Int("texts", i.Remembered), zap.Int("summaries", i.Stored)}
	if i.Failed {
		log.Warn("summaries were not all erased: the store failed", f...)
		return
	}
	log.Info("summaries were erased", f...)
}
