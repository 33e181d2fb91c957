package overflow

import "testing"

func TestRefusalsOfRolesAreKnown(t *testing.T) {
	f := func(status int, message string, want bool) {
		t.Helper()
		body := []byte(`{"error":{"code":400,"message":"` + message + `"}}`)
		if got := Read(status, body).RefusesRoles(); got != want {
			t.Errorf("%d %s: %v", status, message, got)
		}
		if r := Read(status, body).Size(); r.Kind != None {
			t.Errorf("%s is also read as %v", message, r)
		}
	}
	f(500, "Jinja Exception: After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.", true)
	f(500, "Conversation roles must alternate user/assistant/user/assistant/...", true)
	f(400, "System message must be at the beginning.", true)
	f(500, "Only user, assistant and tool roles are supported, got system", true)
	f(400, "Unexpected role 'user' after role 'tool'", true)
	f(400, "Expected last role User or Tool (or Assistant with prefix or continue_final_message set to True) for serving but got assistant", true)
	f(400, "A conversation must alternate between user and assistant roles.", true)
	f(400, "Please ensure that function call turn comes immediately after a user turn or after a function response turn.", true)
	f(403, "System message must be at the beginning.", false)
	f(500, "The server had an error.", false)
	f(400, "An assistant message with 'tool_calls' must be followed by tool messages", false)
	if Read(200, []byte(`{"choices":[{"message":{"content":"conversation roles must alternate"}}]}`)).RefusesRoles() {
		t.Error("a model's words are taken for a template's")
	}
}
