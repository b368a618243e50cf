import type { ReadFile } from '../../frontend/decoders/reader/model-folder.ts';

/** A model that somebody chose. */
export interface ChosenModel {
  readonly name: string;
  readonly source: string | File;
  /** Reads files of its folder, such as `tokenizer.json`; undefined where it is known that there are none. */
  readonly beside?: ReadFile | undefined;
  /** Sizes and numbers that the model works with, by their names: what is not random. */
  readonly values?: ReadonlyMap<string, string> | undefined;
}

/**
 * Facts about a model from the first bytes of its file, before its weights are there. Plain data.
 */
export interface ModelHead {
  readonly format: 'onnx' | 'tflite' | 'gguf' | 'weft';
  /** Bytes of the whole file. */
  readonly byteLength: number;
  /** Bytes of the file that were read for these facts. */
  readonly readByteLength: number;
  readonly weightByteLength: number;
  /** Such as `image: float32 [1, 3, 224, 224]`. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** Operators, or types of tensors of a GGUF file, the most frequent first. */
  readonly operators: readonly OperatorCount[];
  /** Why Weft cannot run the model; undefined where it can. */
  readonly refusal: string | undefined;
  /** Undefined where nobody can tell before it is compiled. */
  readonly work: ModelWork | undefined;
}

export interface OperatorCount {
  readonly name: string;
  readonly count: number;
}

/** An estimate of the work of a model. */
export interface ModelWork {
  /** The unit of the work: a run, or a token of a language model. */
  readonly per: 'run' | 'token';
  readonly launches: number;
  /** Additions and multiplications. */
  readonly operations: number;
  /** Bytes that are read and written. */
  readonly bytes: number;
}

/** Counts names, the most frequent first. */
export function countNames(names: Iterable<string>): OperatorCount[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts]
    .map(([name, count]) => ({ name, count }))
    .sort((a, b) => b.count - a.count || a.name.localeCompare(b.name));
}
