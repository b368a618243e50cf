import type { Peer, PeerTensor } from '../../../onnxruntime/open-onnxruntime.ts';
import type { Completion } from '../wllama/in-page.ts';

/** A language model in ONNX whose caches are of float16, and what is asked of it. */
interface PeerOrder {
  readonly model: Uint8Array;
  /** Of its caches. */
  readonly caches: {
    readonly layers: number;
    readonly heads: number;
    readonly width: number;
  };
  readonly prompts: readonly (readonly number[])[];
  /** Tokens behind each prompt. */
  readonly length: number;
  /** Tokens that end a text, none of which is taken. */
  readonly ends: readonly number[];
}

/**
 * The likeliest continuation of each prompt by onnxruntime-web alone, token by token over its own caches. A token comes with the two
 * likeliest ones and their logits, of which only the difference means something.
 */
export async function completeByPeer(peer: Peer, order: PeerOrder): Promise<Completion[]> {
  const session = await peer.InferenceSession.create(order.model.slice(), { logSeverityLevel: 4 });
  const texts: Completion[] = [];
  try {
    for (const prompt of order.prompts) {
      let caches = emptyCaches(peer, order);
      const tokens: Completion['tokens'][number][] = [];
      for (let fed = prompt, total = prompt.length; tokens.length < order.length; total++) {
        const results = await session.run({ ...inputs(peer, fed, total), ...caches });
        const top = likeliest(results['logits'], order.ends);
        const id = top[0]?.id ?? -1;
        tokens.push({ id, logprob: top[0]?.logprob ?? Number.NaN, top_logprobs: top });
        caches = presentAsPast(results);
        fed = [id];
      }
      texts.push({ promptTokens: prompt.length, tokens, ends: order.ends });
    }
  } finally {
    await session.release();
  }
  return texts;
}

type Tensors = Readonly<Record<string, PeerTensor>>;

function emptyCaches(peer: Peer, { caches }: PeerOrder): Tensors {
  const { layers, heads, width } = caches;
  const names = Array.from(
    { length: 2 * layers },
    (_, i) => `past_key_values.${Math.floor(i / 2)}.${i % 2 === 0 ? 'key' : 'value'}`,
  );
  return Object.fromEntries(
    names.map((name) => [
      name,
      new peer.Tensor('float16', new Uint16Array(0), [1, heads, 0, width]),
    ]),
  );
}

function presentAsPast(results: Tensors): Tensors {
  const presents = Object.entries(results).filter(([name]) => name.startsWith('present.'));
  return Object.fromEntries(
    presents.map(([name, tensor]) => [name.replace('present', 'past_key_values'), tensor]),
  );
}

/** Inputs besides the caches: `tokens` are the last of `total`. */
function inputs(peer: Peer, tokens: readonly number[], total: number): Tensors {
  const int64 = (values: readonly number[]): PeerTensor =>
    new peer.Tensor('int64', BigInt64Array.from(values, BigInt), [1, values.length]);
  return {
    input_ids: int64(tokens),
    attention_mask: int64(Array.from({ length: total }, () => 1)),
  };
}

/** The two likeliest tokens behind the last one. */
function likeliest(logits: PeerTensor | undefined, ends: readonly number[]) {
  const vocabulary = logits?.dims[2] ?? 0;
  const row = Array.from(logits?.data ?? [], Number).slice(-vocabulary);
  const ids = row.flatMap((_, id) => (ends.includes(id) ? [] : [id]));
  const logit = (id: number): number => row[id] ?? Number.NaN;
  const most = (among: readonly number[]): number =>
    among.reduce((best, id) => (logit(id) > logit(best) ? id : best), among[0] ?? -1);
  const first = most(ids);
  const second = most(ids.filter((id) => id !== first));
  return [first, second].map((id) => ({ id, logprob: logit(id) }));
}
