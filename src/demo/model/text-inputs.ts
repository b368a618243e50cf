import { Tensor, type ValueInfo } from '../../client/index.ts';
import { UsageError } from '../../core/errors.ts';
import { encodeAtMost, type KeptPart } from '../../tasks/encode-at-most.ts';
import type { TaskTokenizer } from '../../tasks/task-tokenizer.ts';

/** The role of an input that has an element for each token. */
export type TokenPart = 'ids' | 'mask' | 'types' | 'positions';

/** Names that exporters give these inputs. TensorFlow's end in the number of an output. */
const NAMES: Readonly<Record<TokenPart, RegExp>> = {
  ids: /^(input_?ids?|input_tokens|token_?ids|tokens|ids)(:0)?$/i,
  mask: /^(attention_mask|input_mask|padding_mask|mask)(:0)?$/i,
  types: /^(token_type_ids|segment_ids|type_ids)(:0)?$/i,
  positions: /^position_ids(:0)?$/i,
};
const INTEGERS = /^u?int(32|64)$/;
/** A model that takes fewer tokens in a call makes a text step by step. */
const FEWEST_TOKENS = 2;

/** The inputs of a model that a text fills. */
export interface TextInputs {
  /** The input of tokens. */
  readonly ids: ValueInfo;
  /** The roles of these inputs, by name; that of `ids` is among them. */
  readonly parts: ReadonlyMap<string, TokenPart>;
  /** The tokens of a call; undefined where a call takes any number of them. */
  readonly length: number | undefined;
  /** Names of the dimensions that count tokens. */
  readonly dimensions: ReadonlySet<string>;
}

/** Finds the inputs that a text fills by names and types; undefined for a model that takes no tokens. */
export function textInputsOf(inputs: readonly ValueInfo[]): TextInputs | undefined {
  const ids = inputs.find(({ name, dtype }) => NAMES.ids.test(name) && INTEGERS.test(dtype));
  const length = ids?.shape.at(-1);
  if (ids === undefined || length === undefined || ids.shape.length > 2) return undefined;
  if (typeof length === 'number' && length < FEWEST_TOKENS) return undefined;
  const parts = new Map<string, TokenPart>([[ids.name, 'ids']]);
  const dimensions = new Set<string>();
  for (const info of inputs) {
    const part = (['mask', 'types', 'positions'] as const).find((p) => NAMES[p].test(info.name));
    const isOther = info !== ids && (part === undefined || !isAlike(info, ids));
    if (isOther) continue;
    if (part !== undefined) parts.set(info.name, part);
    const size = info.shape.at(-1);
    if (typeof size === 'string') dimensions.add(size);
  }
  return { ids, parts, length: typeof length === 'number' ? length : undefined, dimensions };
}

/**
 * Returns true if an input has a number for each token. Some exporters name the dimensions of each
 * input anew.
 */
function isAlike({ dtype, shape }: ValueInfo, { shape: wanted }: ValueInfo): boolean {
  const isNumbers = INTEGERS.test(dtype) || dtype === 'bool' || dtype === 'float32';
  const isName = (size: number | string | undefined): boolean =>
    typeof size === 'string' && !/[-+*/() ]/.test(size);
  return (
    isNumbers &&
    shape.length === wanted.length &&
    shape.every((size, i) => size === wanted[i] || (isName(size) && isName(wanted[i])))
  );
}

/** A tokenizer and what its files say of texts that are too short or too long. */
export interface ModelTokenizer {
  readonly tokenizer: TaskTokenizer;
  readonly mostTokens: number;
  readonly kept: KeptPart;
  readonly padding: {
    readonly id: number;
    readonly typeId: number;
    readonly side: 'left' | 'right';
  };
}

/** A row of elements for each role, as a call takes them. */
export interface TextRow extends Readonly<Record<TokenPart, readonly number[]>> {
  /** The tokens of the text itself, without those that fill the row up. */
  readonly tokenCount: number;
  /** True if the end or the begin of the text was left out. */
  readonly isCut: boolean;
}

/** The tokens of a text: `length` of them, filled up or cut, or as many as it has. Throws UsageError for none. */
export async function rowOf(
  model: ModelTokenizer,
  text: string,
  length: number | undefined,
): Promise<TextRow> {
  const { tokenizer, kept, padding } = model;
  const mostTokens = Math.min(model.mostTokens, length ?? Infinity);
  const tokens = await encodeAtMost(tokenizer, text, { mostTokens, kept });
  if (tokens.length === 0) {
    throw new UsageError({ where: 'the text', got: 'no token', expected: 'words' });
  }
  const fillers = Math.max(0, (length ?? 0) - tokens.length);
  const filled = (own: readonly number[], filler: number): number[] => {
    const others = Array.from({ length: fillers }, () => filler);
    return padding.side === 'left' ? [...others, ...own] : [...own, ...others];
  };
  return {
    ids: filled(tokens, padding.id),
    mask: filled(
      tokens.map(() => 1),
      0,
    ),
    types: filled(
      tokens.map(() => 0),
      padding.typeId,
    ),
    positions: filled(
      tokens.map((_, i) => i),
      0,
    ),
    tokenCount: tokens.length,
    isCut: tokens.length < (await tokenizer.encode(text)).length,
  };
}

/** An input of a shape whose last axis is the tokens; each row of it has the same elements. */
export function textTensor(
  { dtype }: ValueInfo,
  shape: readonly number[],
  elements: readonly number[],
): Tensor {
  const rows = shape.slice(0, -1).reduce((product, size) => product * size, 1);
  const all = Array.from({ length: rows }, () => elements).flat();
  const isWide = dtype.endsWith('64');
  const values = isWide ? all.map(BigInt) : dtype === 'bool' ? all.map(Boolean) : all;
  return Tensor.from(values, dtype as Tensor['dtype'], shape);
}

/**
 * The elements of a role where tokens are no text: all of them count, and belong to one sentence.
 */
export function plainPart(part: Exclude<TokenPart, 'ids'>, length: number): number[] {
  const at = { mask: () => 1, types: () => 0, positions: (i: number) => i }[part];
  return Array.from({ length }, (_, i) => at(i));
}
