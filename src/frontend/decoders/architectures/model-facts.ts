import { FormatError } from '../../../core/errors.ts';
import type { StoredTensor } from '../files/stored-tensor.ts';

/** The context in which the metadata of a model file is read. */
export interface FactsOptions {
  /** The name of the file in messages. */
  readonly where: string;
  /** The table of tensors, by their names in the file. */
  readonly tensors: ReadonlyMap<string, StoredTensor>;
  /** Tokens of the vocabulary: the rows of the embedding. */
  readonly vocabulary: number;
  /** Positions that whoever opens the model asks for; all that the model has where undefined. */
  readonly askedContext: number | undefined;
  /** Takes what the file asks for and Weft lacks, as noun phrases: all of it becomes one error. */
  readonly problems: string[];
}

/** Reads the metadata of a model file, whichever format it has. */
export abstract class ModelFacts {
  readonly file: FactsOptions;

  constructor(file: FactsOptions) {
    this.file = file;
  }

  /** Notes something that Weft lacks, as a noun phrase. */
  refuse(problem: string): void {
    this.file.problems.push(problem);
  }

  /** A number of layers: none is without tensors. */
  layers(key: string): number {
    const layers = this.count(key);
    const { size } = this.file.tensors;
    if (layers <= size) return layers;
    throw this.#malformed(key, `${layers} layers`, `no more than tensors, ${size}`);
  }

  /** A positive integer. Throws FormatError for any other value, and where it is absent without a default. */
  count(key: string, otherwise?: number): number {
    const value = this.#number(key, otherwise);
    if (Number.isInteger(value) && value > 0 && value <= MAX_COUNT) return value;
    throw this.#malformed(key, String(value), `an integer from 1 to ${MAX_COUNT}`);
  }

  /** Reads a finite number. */
  number(key: string, otherwise?: number): number {
    const value = this.#number(key, otherwise);
    if (Number.isFinite(value)) return value;
    throw this.#malformed(key, String(value), 'a finite number');
  }

  /** A finite number; undefined where it is absent or null. */
  optionalNumber(key: string): number | undefined {
    const value = this.value(key);
    return value === undefined || value === null ? undefined : this.number(key);
  }

  /** A positive integer; undefined where it is absent, null or 0. */
  optionalCount(key: string): number | undefined {
    const value = this.value(key);
    return value === undefined || value === null || value === 0 ? undefined : this.count(key);
  }

  /** Reads a list of `length` finite numbers. */
  numbers(key: string, length: number): number[] {
    const value = this.value(key);
    const numbers: unknown[] = Array.isArray(value) ? value : [];
    const finite = numbers.filter(
      (element) => typeof element === 'number' && Number.isFinite(element),
    );
    if (finite.length === length && numbers.length === length) return finite as number[];
    throw this.#malformed(key, `a list of ${numbers.length}`, `${length} finite numbers`);
  }

  text(key: string, otherwise: string): string {
    const value = this.value(key) ?? otherwise;
    if (typeof value === 'string') return value;
    throw this.#malformed(key, typeof value, 'a string');
  }

  flag(key: string, otherwise: boolean): boolean {
    const value = this.value(key) ?? otherwise;
    if (typeof value === 'boolean') return value;
    throw this.#malformed(key, typeof value, 'a bool');
  }

  /** A key as the file has it, for messages. */
  nameOf(key: string): string {
    return key;
  }

  abstract value(key: string): unknown;

  #number(key: string, otherwise: number | undefined): number {
    const value = this.value(key) ?? otherwise;
    if (typeof value === 'number') return value;
    const isArray = typeof value === 'object';
    const got = value === undefined ? 'nothing' : isArray ? 'other values by layer' : typeof value;
    throw this.#malformed(key, got, 'a number');
  }

  #malformed(key: string, got: string, expected: string): FormatError {
    return new FormatError({ where: `${this.file.where}, ${this.nameOf(key)}`, got, expected });
  }
}

/** No size of a model comes near. */
const MAX_COUNT = 2 ** 24;
