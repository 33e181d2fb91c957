package store

import "encoding/base64"

// Lasts reports whether the secret of a vault outlives this process: it is configured,
// or kept beside the file. A nil vault has none.
func (v *Vault) Lasts() bool { return v != nil && v.lasts }

// SealText returns a text that only a vault with the same secret opens, for the same
// owner. Nothing is kept of it, and it never expires.
func (v *Vault) SealText(text string, owner ...string) string {
	return base64.RawURLEncoding.EncodeToString(v.seal.Seal(nil, nil, []byte(text), v.hash("sealed", nil, owner)))
}

// OpenText returns the text that SealText was given, or false if it cannot be trusted.
func (v *Vault) OpenText(sealed string, owner ...string) (text string, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return "", false
	}
	plain, err := v.seal.Open(nil, nil, raw, v.hash("sealed", nil, owner))
	return string(plain), err == nil
}
