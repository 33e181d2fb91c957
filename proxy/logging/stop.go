package logging

import (
	"go.uber.org/zap"

	"laconic/proxy"
)

// logStop writes a line for a step of the proxy's end.
func logStop(log *zap.Logger, i proxy.StopInfo) {
	f := appendText(nil, "cause", i.Why)
	open := []zap.Field{zap.Int("requests", i.Requests), zap.Int("streams", i.Streams)}
	switch i.Step {
	case proxy.StopTold:
		log.Info("told to stop", append(append(f, zap.Duration("drain", i.Within)), open...)...)
	case proxy.StopClosed:
		log.Info("the listener is closed", append(append(f, zap.Duration("shutdown", i.Within)), open...)...)
	case proxy.StopEnded:
		write := log.Info
		if i.Cut > 0 {
			write = log.Warn
		}
		write("ended", append(f, zap.Int("cut", i.Cut), zap.Duration("duration", i.Duration))...)
	}
}
