package wire

import "laconic/compact"

// content reads the content of a message.
func (d *decoder) content(m *compact.Message, k *messageMark) bool {
	k.content.start = uint32(d.at)
	switch d.peek() {
	case 'n':
		m.Shape = compact.Null
		if !d.literal("null") {
			return false
		}
	case '"':
		m.Shape = compact.String
		v, ok := d.value()
		if !ok || d.crowded() {
			return false
		}
		d.addPart(compact.Part{Text: d.textOf(v)}, partMark{whole: v.span, text: v.span})
	case '[':
		m.Shape = compact.Array
		var a array
		for d.element(&a) {
			if d.peek() != '{' {
				return d.wrong("a part is not an object")
			}
			if !d.part(m) {
				return false
			}
		}
	default:
		return d.wrong("content is neither a string nor an array")
	}
	k.content.end = uint32(d.at)
	return d.err == nil
}

func (d *decoder) addPart(p compact.Part, k partMark) {
	d.parts = append(roomier(d.parts, d.at, len(d.src)), p)
	d.r.parts = append(roomier(d.r.parts, d.at, len(d.src)), k)
}

// part reads one element of a content array.
func (d *decoder) part(m *compact.Message) bool {
	if d.crowded() {
		return false
	}
	k := partMark{whole: span{start: uint32(d.at)}}
	var kind string
	var text, refusal, thinking, detail value
	var image, audio, file media
	typed := false
	var o object
	for d.key(&o) {
		if !d.clear(&o, partKeys) {
			return false
		}
		ok := true
		switch o.name {
		case "type":
			var v value
			v, ok = d.value()
			kind, typed = d.str(v), true
		case "text":
			text, ok = d.value()
		case "refusal":
			refusal, ok = d.value()
		case "thinking":
			thinking, ok = d.value()
		case "detail":
			detail, ok = d.value()
		case "image_url":
			ok = d.media(&image, "url", "detail", "")
		case "input_audio":
			ok = d.media(&audio, "data", "format", "")
		case "file":
			ok = d.media(&file, "file_data", "filename", "file_id")
		case "file_data", "file_url":
			file.data, ok = d.value()
		case "filename":
			file.detail, ok = d.value()
		case "file_id":
			file.id, ok = d.value()
		default:
			ok = d.skip()
		}
		if !ok {
			return false
		}
	}
	if d.err != nil {
		return false
	}
	k.whole.end = uint32(d.at)
	p := compact.Part{Kind: compact.KindOther}
	held := value{}
	switch kind {
	case "text", "input_text", "output_text":
		if text.kind == '"' {
			p.Kind, held = compact.KindText, text
		}
	case "image_url", "input_image":
		p.Kind, held, p.Detail = compact.KindImage, image.data, d.str(image.detail)
		if detail.kind == '"' {
			p.Detail = d.str(detail)
		}
	case "input_audio":
		p.Kind, held, p.Detail = compact.KindAudio, audio.data, d.str(audio.detail)
	case "file", "input_file":
		p.Kind, held, p.Detail = compact.KindFile, file.data, d.str(file.detail)
		if p.Detail == "" {
			p.Detail = d.str(file.id)
		}
	case "refusal":
		p.Kind, held = compact.KindRefusal, refusal
	case "thinking", "redacted_thinking", "reasoning":
		m.Sealed = true
		d.thought(m, thinking)
		d.thought(m, text)
	case "":
		if !typed && text.kind == '"' {
			p.Kind, held = compact.KindText, text
		}
	}
	p.Text = d.textOf(held)
	if held.kind == '"' {
		k.text = held.span
	}
	d.addPart(p, k)
	return true
}

// media is what matters of a part that is not text.
type media struct{ data, detail, id value }

// media reads the object that says where the thing is, or a string that is
// that by itself.
func (d *decoder) media(x *media, data, detail, id string) (ok bool) {
	if d.peek() != '{' {
		x.data, ok = d.value()
		return ok
	}
	var o object
	for d.key(&o) {
		if !d.clear(&o, mediaKeys) {
			return false
		}
		v, ok := d.value()
		if !ok {
			return false
		}
		switch o.name {
		case data:
			x.data = v
		case detail:
			x.detail = v
		case id:
			x.id = v
		}
	}
	return d.err == nil
}
