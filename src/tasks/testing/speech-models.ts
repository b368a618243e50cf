import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { seededRandom } from '../../core/random.ts';
import {
  type OnnxGraphSpec,
  type OnnxNodeSpec,
  writeOnnxModel,
} from '../../testing/onnx-writer.ts';

/** How many numbers a state has. */
const SIZE = 4;

/** Words of the test's vocabulary, then special tokens as Whisper has them, then timestamps. */
export const WORDS = ['alpha', 'beta', 'gamma', 'delta', 'kilo', 'mike', 'oscar', 'tango'] as const;
export const TOKENS = { end: 8, start: 9, en: 10, de: 11, transcribe: 12, translate: 13, none: 14 };
export const FIRST_TIMESTAMP = 15;
const TIMESTAMPS = 151;
export const VOCABULARY = FIRST_TIMESTAMP + TIMESTAMPS;

const random = seededRandom(47);
const numbers = (count: number, scale: number): Float32Array =>
  Float32Array.from({ length: count }, () => Math.fround((random() - 0.5) * 2 * scale));

/** The weights of the networks below. */
export const WEIGHTS = {
  embeddings: numbers(VOCABULARY * SIZE, 1.5),
  // Timestamps are many, so each is less likely than a word.
  output: numbers(SIZE * VOCABULARY, 2).map((weight, i) =>
    i % VOCABULARY < FIRST_TIMESTAMP ? weight : Math.fround(weight * 0.5),
  ),
  features: numbers(80 * SIZE, 0.3),
  samples: numbers(160 * SIZE, 0.3),
};

const EMBEDDINGS = HostTensor.from('float32', [VOCABULARY, SIZE], WEIGHTS.embeddings);
const OUTPUT = HostTensor.from('float32', [SIZE, VOCABULARY], WEIGHTS.output);
const FEATURES = HostTensor.from('float32', [80, SIZE], WEIGHTS.features);
const ints = (values: readonly number[]): HostTensor =>
  HostTensor.from('int64', [values.length], values.map(BigInt));

/** (1, 80, frames) becomes (1, frames / 2, SIZE). */
export const WHISPER_ENCODER = writeOnnxModel({
  nodes: [
    {
      op: 'Transpose',
      inputs: ['input_features'],
      outputs: ['t'],
      attributes: { perm: [0, 2, 1] },
    },
    { op: 'MatMul', inputs: ['t', 'w'], outputs: ['all'] },
    { op: 'Slice', inputs: ['all', 'zero', 'far', 'one', 'two'], outputs: ['last_hidden_state'] },
  ],
  opset: 13,
  inputs: [{ name: 'input_features', shape: ['batch', 80, 'frames'] }],
  outputs: ['last_hidden_state'],
  initializers: {
    w: FEATURES,
    zero: ints([0]),
    far: ints([100_000]),
    one: ints([1]),
    two: ints([2]),
  },
});

/** Each 160 samples become one state. */
export const MOONSHINE_ENCODER = writeOnnxModel({
  nodes: [
    { op: 'Unsqueeze', inputs: ['input_values', 'one'], outputs: ['row'] },
    {
      op: 'Conv',
      inputs: ['row', 'w'],
      outputs: ['states'],
      attributes: { kernel_shape: [160], strides: [160] },
    },
    {
      op: 'Transpose',
      inputs: ['states'],
      outputs: ['last_hidden_state'],
      attributes: { perm: [0, 2, 1] },
    },
  ],
  opset: 13,
  inputs: [{ name: 'input_values', shape: ['batch', 'samples'] }],
  outputs: ['last_hidden_state'],
  initializers: {
    w: HostTensor.from('float32', [SIZE, 1, 160], WEIGHTS.samples),
    one: ints([1]),
  },
});

const PAST = { key: 'past_key_values.0.decoder.key', states: 'past_key_values.0.encoder.key' };

/** Logits: of the last tokens' embeddings, the mean of all tokens' and that of the encoder's states. */
function decoderNodes(keys: readonly OnnxNodeSpec[]): OnnxNodeSpec[] {
  return [
    { op: 'Gather', inputs: ['embeddings', 'input_ids'], outputs: ['own'] },
    { op: 'Unsqueeze', inputs: ['own', 'one'], outputs: ['ownKey'] },
    ...keys,
    mean('allKeys', 'keyMean'),
    mean('allStates', 'stateMean'),
    { op: 'Add', inputs: ['keyMean', 'stateMean'], outputs: ['both'] },
    { op: 'Add', inputs: ['own', 'both'], outputs: ['sum'] },
    { op: 'MatMul', inputs: ['sum', 'output'], outputs: ['logits'] },
  ];
}

/** (1, 1, n, SIZE) becomes (1, 1, SIZE). */
const mean = (from: string, to: string): OnnxNodeSpec => ({
  op: 'ReduceMean',
  inputs: [from],
  outputs: [to],
  attributes: { axes: [2], keepdims: 0 },
});

const INITIALIZERS = { embeddings: EMBEDDINGS, output: OUTPUT, one: ints([1]) };
const INPUT_IDS = { name: 'input_ids', dtype: 'int64' as const, shape: ['batch', 'length'] };
const STATES = { name: 'encoder_hidden_states', shape: ['batch', 'frames', SIZE] };
const KEY = { name: PAST.key, shape: ['batch', 1, 'past', SIZE] };
const STATE_KEY = { name: PAST.states, shape: ['batch', 1, 'states', SIZE] };

/** The first step: nothing is past. */
const FIRST: readonly OnnxNodeSpec[] = [
  { op: 'Identity', inputs: ['ownKey'], outputs: ['allKeys'] },
  { op: 'Unsqueeze', inputs: ['encoder_hidden_states', 'one'], outputs: ['allStates'] },
];
const NEXT: readonly OnnxNodeSpec[] = [
  { op: 'Concat', inputs: [PAST.key, 'ownKey'], outputs: ['allKeys'], attributes: { axis: 2 } },
  { op: 'Identity', inputs: [PAST.states], outputs: ['allStates'] },
];
const present = (states: OnnxNodeSpec): OnnxNodeSpec[] => [
  { op: 'Identity', inputs: ['allKeys'], outputs: ['present.0.decoder.key'] },
  states,
];
const PRESENT = ['logits', 'present.0.decoder.key', 'present.0.encoder.key'];
const sameStates: OnnxNodeSpec = {
  op: 'Identity',
  inputs: ['allStates'],
  outputs: ['present.0.encoder.key'],
};

/** `decoder_model.onnx` as Optimum writes it: it reads all tokens, and gives what a further step takes. */
export const DECODER = writeOnnxModel({
  nodes: [...decoderNodes(FIRST), ...present(sameStates)],
  opset: 13,
  inputs: [INPUT_IDS, STATES],
  outputs: PRESENT,
  initializers: INITIALIZERS,
});

/** `decoder_with_past_model.onnx`: it reads one token. */
export const DECODER_WITH_PAST = writeOnnxModel({
  nodes: [
    ...decoderNodes(NEXT),
    { op: 'Identity', inputs: ['allKeys'], outputs: ['present.0.decoder.key'] },
  ],
  opset: 13,
  inputs: [INPUT_IDS, KEY, STATE_KEY],
  outputs: PRESENT.slice(0, 2),
  initializers: INITIALIZERS,
});

/** Both in one, as `decoder_model_merged.onnx`: with `use_cache_branch` the states of the encoder come out empty. */
const branch = (keys: readonly OnnxNodeSpec[], states: OnnxNodeSpec): OnnxGraphSpec => ({
  nodes: [...decoderNodes(keys), ...present(states)],
  outputs: PRESENT,
  initializers: {
    ...INITIALIZERS,
    none: HostTensor.from('float32', [0, 1, 1, SIZE], []),
  },
});
export const DECODER_MERGED = writeOnnxModel({
  nodes: [
    {
      op: 'If',
      inputs: ['use_cache_branch'],
      outputs: PRESENT,
      attributes: {
        then_branch: {
          graph: branch(NEXT, {
            op: 'Identity',
            inputs: ['none'],
            outputs: ['present.0.encoder.key'],
          }),
        },
        else_branch: { graph: branch(FIRST, sameStates) },
      },
    },
  ],
  opset: 13,
  inputs: [
    INPUT_IDS,
    STATES,
    KEY,
    STATE_KEY,
    { name: 'use_cache_branch', dtype: 'bool', shape: [1] },
  ],
  outputs: PRESENT,
});

/** The mean of states (frames, SIZE). */
export function meanOf(states: ArrayLike<number>): number[] {
  const count = states.length / SIZE;
  return Array.from({ length: SIZE }, (_, c) => {
    let sum = 0;
    for (let i = 0; i < count; i++) sum += states[i * SIZE + c] ?? 0;
    return sum / count;
  });
}

/** Logits behind the tokens, as the decoders compute them, in doubles. */
export function referenceLogits(tokens: readonly number[], states: readonly number[]): number[] {
  const row = (token: number): readonly number[] =>
    Array.from(WEIGHTS.embeddings.subarray(token * SIZE, (token + 1) * SIZE));
  const keys = meanOf(tokens.flatMap(row));
  const last = row(tokens.at(-1) ?? 0);
  return Array.from({ length: VOCABULARY }, (_, id) =>
    last.reduce(
      (sum, own, c) =>
        sum +
        (own + (keys[c] ?? 0) + (states[c] ?? 0)) * (WEIGHTS.output[c * VOCABULARY + id] ?? 0),
      0,
    ),
  );
}

const SPECIAL: readonly (readonly [id: number, content: string])[] = [
  ...Object.entries(TOKENS).map(([name, id]) => [id, `<|${name}|>`] as const),
  ...Array.from(
    { length: TIMESTAMPS },
    (_, i) => [FIRST_TIMESTAMP + i, `<|${(i * 0.02).toFixed(2)}|>`] as const,
  ),
];

/** Words are tokens, with a blank before each, as Whisper's have it. */
export const TOKENIZER = {
  version: '1.0',
  added_tokens: SPECIAL.map(([id, content]) => ({ id, content, special: true })),
  normalizer: null,
  pre_tokenizer: { type: 'Whitespace' },
  post_processor: null,
  decoder: { type: 'Replace', pattern: { String: '▁' }, content: ' ' },
  model: {
    type: 'WordLevel',
    vocab: {
      ...Object.fromEntries(WORDS.map((word, id) => [`▁${word}`, id])),
      ...Object.fromEntries(SPECIAL.map(([id, content]) => [content, id])),
    },
    unk_token: '▁alpha',
  },
};
