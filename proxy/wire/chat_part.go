package wire

import "laconic/compact"

// content reads the content of a message.
func (d *decoder) content(m *compact.Message, k *mark) {
	k.content.start = uint32(d.at)
	d.said = d.said[:0]
	switch d.peek() {
	case 'n':
		m.Shape = compact.Null
		d.read()
	case '"':
		m.Shape = compact.String
		v := d.read()
		d.addPart(compact.Part{Text: d.textOf(v)}, place{element: d.holder, text: v.extent})
	case '[':
		m.Shape = compact.Array
		for a := (array{}); d.element(&a); {
			d.part()
		}
		d.thought(m)
	default:
		d.wrong("content is neither a string nor an array")
	}
	k.content.end = uint32(d.at)
}

// part reads one element of a content array.
func (d *decoder) part() {
	if d.peek() != '{' {
		d.wrong("a part is not an object")
		return
	}
	at := place{element: d.open(d.at, d.holder, withPieces)}
	f, thoughts := partFields{}, len(d.said)
	for o := (object{}); d.key(&o, partKeys); {
		d.partField(&f, o.name)
	}
	d.close(at.element)
	p := compact.Part{Kind: kindOf(&f)}
	var held value
	switch p.Kind {
	case compact.KindText:
		held = f.text
	case compact.KindRefusal:
		held = f.refusal
	case compact.KindOther:
		// Its meaning is unknown: all of it is taken for text.
		p.Text = compact.Plain(unmarked(lent(d.raw(d.elements[at.element].whole))))
	default:
		held, p.Detail = f.media.data, d.str(f.media.detail)
		if p.Kind == compact.KindFile && p.Detail == "" {
			p.Detail = d.str(f.media.id)
		}
	}
	switch f.kind {
	case "thinking", "redacted_thinking", "reasoning":
		p.Thought, d.thinks = true, true
		d.bound = d.bound || f.kind != "reasoning" && d.binds(f.kind, "", f.signature, f.media.data)
		if f.text.kind == '"' {
			d.said = append(d.said, f.text)
		}
		p.Text = compact.Text{}
	default:
		d.said = d.said[:thoughts]
	}
	if held.kind == '"' {
		p.Text, at.text = d.textOf(held), held.extent
	}
	d.addPart(p, at)
}

// partFields are the fields of a part that matter.
type partFields struct {
	kind          string
	typeOf        value
	text, refusal value
	signature     value
	media         media
}

// partField reads one field of a part. The place of what is not text is
// under a name for each kind, and each has its spellings: OpenAI's chat and
// responses, vLLM and SGLang (audio_url, video_url), Mistral (document_url),
// Hugging Face (image, audio, video), Anthropic (source).
func (d *decoder) partField(f *partFields, name string) {
	switch name {
	case "type":
		f.typeOf = d.read()
		f.kind = d.str(f.typeOf)
	case "text":
		f.text = d.read()
	case "refusal":
		f.refusal = d.read()
	case "thinking":
		d.thoughts(d.peek() == '"')
	case "signature":
		f.signature = d.read()
	case "detail", "filename", "document_name":
		f.media.detail = d.read()
	case "file_id":
		f.media.id = d.read()
	case "image_url", "input_audio", "file", "audio_url", "video_url", "document_url", "image", "audio", "video", "source":
		d.media(&f.media)
	case "file_data", "file_url", "url", "data":
		f.media.data = d.read()
	}
}

// kindOf tells what a part is.
func kindOf(f *partFields) compact.Kind {
	switch f.kind {
	case "text", "input_text", "output_text":
		if f.text.kind == '"' {
			return compact.KindText
		}
	case "image_url", "input_image", "image":
		return compact.KindImage
	case "input_audio", "audio_url", "audio":
		return compact.KindAudio
	case "video_url", "input_video", "video":
		return compact.KindVideo
	case "file", "input_file", "document_url":
		return compact.KindFile
	case "document": // Anthropic's; one that is text is read as such
		if !f.media.text && (f.media.data.kind == '"' || f.media.id.kind == '"') {
			return compact.KindFile
		}
	case "refusal":
		return compact.KindRefusal
	case "":
		if !f.typeOf.present() && f.text.kind == '"' {
			return compact.KindText
		}
	}
	return compact.KindOther
}

// media is what matters of a part that is not text.
type media struct {
	data, detail, id value
	text             bool // it is written as it is
}

// media reads the object that says where the thing is, or a string that is
// that by itself.
func (d *decoder) media(x *media) {
	if d.peek() != '{' {
		x.data = d.read()
		return
	}
	for o := (object{}); d.key(&o, mediaKeys); {
		switch o.name {
		case "url", "data", "file_data":
			x.data = d.read()
		case "detail", "format", "filename":
			x.detail = d.read()
		case "file_id":
			x.id = d.read()
		case "type":
			x.text = d.str(d.read()) == "text"
		}
	}
}
