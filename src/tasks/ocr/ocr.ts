import { checkOptions, requireKind } from '../../core/check-options.ts';
import type { Session } from '../../client/session.ts';
import type { Picture } from '../pictures/pixels.ts';
import { Task } from '../task.ts';
import { loadTask, type TaskSource } from '../task-model.ts';
import { MODELS_OPTIONS, SOURCE, type TaskOptions } from '../task-options.ts';
import type { PageReader } from './page-reader.ts';
import type { PageText, ReadOptions } from './page-text.ts';
import { addressOf } from '../../client/start/file-url.ts';
import { DownloadError } from '../../core/errors.ts';
import { openFile } from '../../downloads/open-file.ts';
import { readWhole } from '../../downloads/range-file.ts';

/** The models that read text, as PaddleOCR exports them (PP-OCRv3 to v5). */
export interface OcrSources {
  /** Finds lines: (1, 3, H, W) in, likelihoods (1, 1, H, W) out. */
  readonly detection: TaskSource;
  /** Reads a line: (N, 3, 48, W) in, (N, steps, classes) out. */
  readonly recognition: TaskSource;
  /** The characters: the address of a file with one in each line, its bytes, or the characters. */
  readonly dictionary: DictionarySource;
  /** Says whether a line is upside down: (N, 3, 48, 192) in, (N, 2) out. Default: no line is. */
  readonly orientation?: TaskSource | undefined;
}

/** How the models are loaded. */
export interface OcrOptions extends Omit<TaskOptions, 'file' | 'config' | 'preprocessor'> {
  /** The longer side of the picture in which lines are looked for: larger ones are made smaller for it. Default 1536. */
  readonly longestEdge?: number | undefined;
}

/**
 * Loads models that read text. Rejects as `Session.load` does, and with UsageError for a dictionary that has another number of characters than
 * the model.
 */
export async function ocr(sources: OcrSources, options: OcrOptions = {}): Promise<Ocr> {
  checkOptions<OcrOptions>('ocr', options, { longestEdge: 'count', ...MODELS_OPTIONS });
  const { longestEdge, ...place } = options;
  checkOptions<OcrSources>('ocr, sources', sources, {
    detection: SOURCE,
    recognition: SOURCE,
    dictionary: SOURCE,
    orientation: SOURCE,
  });
  for (const name of ['detection', 'recognition', 'dictionary'] as const) {
    requireKind('ocr, sources', SOURCE, [name, sources[name]]);
  }
  return loadTask(async (load) => {
    // Nothing in the small files of these models says anything about reading.
    const plain = { ...place, config: {}, preprocessor: {} };
    const open = async (source: TaskSource) => (await load(source, plain)).session;
    const turned = sources.orientation;
    const [dictionary, detection, recognition, orientation, { classesOf, PageReader }] =
      await Promise.all([
        dictionaryOf(sources.dictionary, place.signal),
        open(sources.detection),
        open(sources.recognition),
        turned === undefined ? undefined : open(turned),
        import('./page-reader.ts'),
      ]);
    // Throws for a model that does not fit the dictionary, before a picture is read.
    classesOf(dictionary, recognition.outputs[0]?.shape.at(-1));
    const reader = new PageReader({
      detection,
      recognition,
      orientation,
      dictionary,
      longestEdge: longestEdge ?? 1536,
    });
    return new Ocr([detection, recognition, ...(orientation ? [orientation] : [])], reader);
  });
}

/** Reads text in pictures. */
export class Ocr extends Task {
  readonly #reader: PageReader;

  /** @internal */
  constructor(sessions: readonly [Session, ...Session[]], reader: PageReader) {
    super(sessions);
    this.#reader = reader;
  }

  /** Reads a picture. Rejects with UsageError for a picture without pixels, and with the signal's reason. */
  async read(picture: Picture, options: ReadOptions = {}): Promise<PageText> {
    checkOptions<ReadOptions>('read', options, {
      threshold: 'positive',
      boxThreshold: 'positive',
      unclip: 'positive',
      leastScore: 'number',
      signal: 'signal',
    });
    return this.#reader.read(picture, options);
  }
}

/** The characters that a model reads, in the order of its classes: the address of a file that has one in each line, its bytes, or a list. */
type DictionarySource = string | URL | Uint8Array | readonly string[];

/** Reads the characters. Rejects with DownloadError where there is no such file. */
async function dictionaryOf(
  source: DictionarySource,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  if (source instanceof Uint8Array) return linesOf(source);
  if (typeof source !== 'string' && !(source instanceof URL)) return source;
  const url = addressOf(source).href;
  const file = await openFile(url, { signal });
  if (file === undefined) {
    throw new DownloadError({ where: url, got: 'no such file', expected: 'the dictionary' });
  }
  return linesOf(await readWhole(file));
}

/** Only the ends of lines are cut off: a line may hold a space of Unicode. */
function linesOf(bytes: Uint8Array): string[] {
  const lines = new TextDecoder().decode(bytes).split(/\r?\n/);
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}
