// Answers with the tokens that OpenAI's tokenizer makes of each text it is sent.
//
//   node oracle.mjs o200k_base
//
// Input: texts, each as its length in bytes (32 bits, little endian) and its bytes.
// Output: for each text the number of its tokens (32 bits) and the tokens (32 bits).
// Bytes that are no UTF-8 become U+FFFD as TextDecoder does it.
import { get_encoding } from "tiktoken";
import { writeSync } from "node:fs";

const encoding = get_encoding(process.argv[2]);
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function answer(text) {
  const tokens = encoding.encode_ordinary(decoder.decode(text));
  const out = Buffer.alloc(4 + 4 * tokens.length);
  out.writeUInt32LE(tokens.length, 0);
  tokens.forEach((token, i) => out.writeUInt32LE(token, 4 + 4 * i));
  for (let at = 0; at < out.length; ) {
    try {
      at += writeSync(1, out, at);
    } catch (e) {
      if (e.code !== "EAGAIN") throw e; // the reader is busy
    }
  }
}

let rest = Buffer.alloc(0);
for await (const chunk of process.stdin) {
  rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
  let at = 0;
  while (rest.length - at >= 4 && rest.length - at - 4 >= rest.readUInt32LE(at)) {
    const end = at + 4 + rest.readUInt32LE(at);
    answer(rest.subarray(at + 4, end));
    at = end;
  }
  rest = rest.subarray(at);
}
