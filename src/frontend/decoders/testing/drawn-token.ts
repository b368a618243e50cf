import { threefry, type WordOperators } from '../../../ops/random/threefry-words.ts';

/** The logits and settings by which a token is drawn, in double precision. */
interface Draw {
  readonly logits: readonly number[];
  readonly temperature: number;
  readonly topK: number;
  readonly topP: number;
  readonly minP: number;
  readonly repetition: number;
  readonly presence: number;
  readonly frequency: number;
  readonly bias: ReadonlyMap<number, number>;
  readonly prompt: ReadonlySet<number>;
  /** How often each token was generated. */
  readonly counts: readonly number[];
  readonly isAllowed: (token: number) => boolean;
  readonly key: readonly [number, number];
  readonly position: number;
  /** By how much scores may differ where rounding decides. Default: what float32 makes of sums and logarithms. */
  readonly rounding?: number;
}

const WORDS: WordOperators<number> = {
  add: (a, b) => (a + b) >>> 0,
  xor: (a, b) => (a ^ b) >>> 0,
  or: (a, b) => (a | b) >>> 0,
  shiftLeft: (word, bits) => (word << bits) >>> 0,
  shiftRight: (word, bits) => word >>> bits,
};

/** A token is as good as another one if their scores differ by less. */
const ROUNDING = 2e-4;

/**
 * The tokens that a draw may give, in the order in which transformers processes logits: penalties, what is allowed, the
 * temperature, then of what is left topK, topP and minP. More than one where rounding decides.
 */
export function drawnTokens(draw: Draw): number[] {
  const { topK, topP, minP, temperature } = draw;
  const scores = draw.logits.map((logit, token) =>
    draw.isAllowed(token)
      ? penalized(logit, token, draw) / (temperature || 1)
      : Number.NEGATIVE_INFINITY,
  );
  let kept = scores.map((score, token) => ({ score, token, isSure: true }));
  kept = kept.filter(({ score }) => score > Number.NEGATIVE_INFINITY);
  kept.sort((a, b) => b.score - a.score);
  if (temperature > 0) {
    const last = kept[topK - 1];
    if (topK > 0 && last) kept = kept.filter(({ score }) => score >= last.score);
    const most = kept[0]?.score ?? 0;
    const total = kept.reduce((sum, { score }) => sum + Math.exp(score - most), 0);
    let above = 0;
    let [before, score] = [0, Number.POSITIVE_INFINITY];
    kept = kept.flatMap((item) => {
      // Equal tokens are kept together.
      if (item.score < score) [before, score] = [above, item.score];
      const share = Math.exp(item.score - most) / total;
      above += share;
      const isKept = before < topP || before === 0;
      const isNearest = before !== 0 && Math.abs(before - topP) < 1e-5;
      const ratio = Math.exp(item.score - most);
      const isNearLeast = minP > 0 && Math.abs(ratio - minP) < 1e-5 && ratio !== 1;
      const isSure = !(topP < 1 && isNearest) && !isNearLeast;
      return (isKept && ratio >= minP) || !isSure ? [{ ...item, isSure }] : [];
    });
  }
  const noisy = kept.map((item) => ({
    ...item,
    total: item.score + (temperature > 0 ? gumbel(draw, item.token) : 0),
  }));
  const best = Math.max(...noisy.filter(({ isSure }) => isSure).map(({ total }) => total));
  const { rounding = ROUNDING } = draw;
  const isRounded = temperature > 0 || draw.rounding !== undefined;
  const margin = isRounded ? rounding * Math.max(1, Math.abs(best) / 10) : 0;
  return noisy.filter(({ total }) => total >= best - margin).map(({ token }) => token);
}

function penalized(logit: number, token: number, draw: Draw): number {
  const { repetition, presence, frequency, prompt, bias } = draw;
  const count = draw.counts[token] ?? 0;
  const isRepeated = prompt.has(token) || count > 0;
  const repeated = logit > 0 ? logit / repetition : logit * repetition;
  const cost = (count > 0 ? presence : 0) + frequency * count;
  return (isRepeated ? repeated : logit) - cost + (bias.get(token) ?? 0);
}

function gumbel({ key, position }: Draw, token: number): number {
  const [bits] = threefry(WORDS, key, [token, position]);
  const uniform = Math.max((bits >>> 8) * 2 ** -24, 2 ** -25);
  return -Math.log(-Math.log1p(-uniform));
}
