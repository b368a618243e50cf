/** Text that was read, and how sure the model is of its characters on average. */
export interface ReadText {
  readonly text: string;
  readonly score: number;
}

/**
 * The likeliest character of each step, where the same one in a row counts once and class 0 is a blank between two (Graves et al.
 * 2006). `scores` are (steps, classes), `characters` those of the classes.
 */
export function readSteps(
  scores: Float32Array | Float64Array,
  characters: readonly string[],
): ReadText {
  const classes = characters.length;
  let text = '';
  let sum = 0;
  let count = 0;
  let before = 0;
  for (let at = 0; at < scores.length; at += classes) {
    let best = 0;
    let most = scores[at] ?? 0;
    for (let c = 1; c < classes; c++) {
      const score = scores[at + c] ?? 0;
      if (score > most) [best, most] = [c, score];
    }
    if (best !== 0 && best !== before) {
      text += characters[best] ?? '';
      sum += most;
      count++;
    }
    before = best;
  }
  return { text, score: count === 0 ? 0 : sum / count };
}
