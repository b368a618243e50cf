import { FormatError } from '../../core/errors.ts';
import { isRecord, parseJson } from '../../frontend/decoders/files/json-record.ts';

const STORE = 'weft-story';

/** A story as far as it was written, to go on with after a reload or in another page. */
export interface Story {
  readonly prompt: string;
  readonly written: string;
  readonly seed: number;
  readonly isOver: boolean;
}

/** A story as another page hands it over. */
export interface MovedStory {
  readonly story: Story;
  readonly temperature: string;
  readonly topP: string;
  /** True for an answer in JSON. */
  readonly isJson: boolean;
}

/** The one that this browser has stored. */
export function keptStory(): Story | undefined {
  try {
    return (JSON.parse(localStorage.getItem(STORE) ?? 'null') as Story | null) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Stores a story; undefined: none any more. */
export function keepStory(story: Story | undefined): void {
  try {
    if (story === undefined) localStorage.removeItem(STORE);
    else localStorage.setItem(STORE, JSON.stringify(story));
  } catch {
    // Where nothing can be stored, a reload begins anew.
  }
}

/** Throws FormatError for a note of something else. */
export function readMovedStory(note: string): MovedStory {
  const where = 'a story of another page';
  const moved = parseJson(note, where);
  const { story, temperature, topP, isJson } = moved;
  const { prompt, written, seed, isOver } = isRecord(story) ? story : {};
  const areTexts = [prompt, written, temperature, topP].every((text) => typeof text === 'string');
  const areFlags = [isJson, isOver].every((flag) => typeof flag === 'boolean');
  if (areTexts && areFlags && Number.isSafeInteger(seed)) return moved as unknown as MovedStory;
  throw new FormatError({
    where,
    got: 'a part of it',
    expected: 'what this page writes, of the same version',
  });
}
