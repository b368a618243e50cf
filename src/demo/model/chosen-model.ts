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
