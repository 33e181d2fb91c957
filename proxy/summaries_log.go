package proxy

import "go.uber.org/zap"

// summaryFields say what stood in the slot of a request.
func summaryFields(i *SummaryInfo) []zap.Field {
	if i == nil {
		return nil
	}
	f := []zap.Field{zap.String("summary", i.Outcome), zap.String("summary_model", i.Model)}
	f = appendText(f, "summary_reason", i.Reason)
	if i.Duration > 0 {
		f = append(f, zap.Duration("summary_wait", i.Duration))
	}
	return f
}

// logJob writes a line for a summary that the model was asked for. One that
// was there already, or is made elsewhere, is worth a line at debug only.
func logJob(log *zap.Logger, i JobInfo) {
	level := zap.InfoLevel
	if !i.Made && (i.Reason == "" || i.Reason == "elsewhere" || i.Reason == "shutdown") {
		level = zap.DebugLevel
	}
	line := log.Check(level, "summary")
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
