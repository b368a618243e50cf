import { UsageError } from '../client/index.ts';
import {
  type GenerateOptions,
  type Generation,
  type ResponseFormat,
  type TextModel,
} from '../text/index.ts';
import type { DemoContext } from './demo-context.ts';
import { byId, element } from './element.ts';
import { showFacts } from './facts.ts';
import { formatBytes } from '../core/format-quantity.ts';
import { requestedDevice } from './open-session.ts';
import { ProgramSection } from './program-section.ts';
import { snippetOf } from './snippet.ts';
import { openStories, writeStory } from './snippets/write-story.ts';

const TITLE = 'stories/model.weft';
const STORE = 'weft-story';
const MOST_TOKENS = 160;

/** An answer as data; its names are those that the model knows. */
const NAMES = 'Tom Ben Max Leo Sam Jack Finn Paul Mia Anna Lily Zoe Emma Rosa Nora Ella'.split(' ');
const PLACES = 'kitchen garden park school forest attic barn shop library market castle'.split(' ');
const SCHEMA = {
  type: 'object',
  properties: { who: { enum: NAMES }, where: { enum: PLACES } },
  required: ['who', 'where'],
};
const JSON_FORMAT: ResponseFormat = { type: 'json_schema', json_schema: { schema: SCHEMA } };

/** A story that was being written, to go on with after a reload. */
interface KeptStory {
  readonly prompt: string;
  readonly written: string;
  readonly seed: number;
  readonly isOver: boolean;
}

/** A language model writes a story; the loop over its tokens is part of the executable. */
export class StorySection extends ProgramSection {
  readonly #prompt = byId('story-prompt', HTMLTextAreaElement);
  readonly #output = byId('story-text', HTMLElement);
  readonly #write = byId('story-write', HTMLButtonElement);
  readonly #temperature = byId('story-temperature', HTMLInputElement);
  readonly #topP = byId('story-top-p', HTMLInputElement);
  readonly #asJson = byId('story-json', HTMLInputElement);
  readonly #facts = byId('story-facts', HTMLElement);
  #model: TextModel | undefined;
  #abort: AbortController | undefined;
  #story: KeptStory;

  constructor(context: DemoContext) {
    super(context, TITLE);
    this.#story = keptStory() ?? this.#newStory();
    this.#prompt.value = this.#story.prompt;
    this.#write.addEventListener('click', () => this.#toggle());
    byId('story-again', HTMLButtonElement).addEventListener('click', () => this.#again());
    this.#prompt.addEventListener('input', () => this.#change());
    for (const [input, digits] of [
      [this.#temperature, 2],
      [this.#topP, 2],
    ] as const) {
      input.addEventListener('input', () => {
        byId(`${input.id}-value`, HTMLElement).textContent = Number(input.value).toFixed(digits);
      });
    }
    byId('story-snippet', HTMLElement).append(snippetOf('write-story'));
    this.#show();
  }

  override close(): void {
    super.close();
    this.#abort?.abort();
  }

  protected override async load(): Promise<void> {
    const model = await openStories({
      device: requestedDevice(),
      onProgress: ({ phase, loaded, total }) => {
        showFacts(this.#facts, [
          [phase, total === undefined ? '' : `${Math.round((100 * loaded) / total)}%`],
        ]);
      },
    });
    this.#model = model;
    this.session = model.session;
    this.context.showDevice(model.session.device, { isFastest: true });
    this.#write.disabled = false;
    await this.#showUsage(undefined);
  }

  #toggle(): void {
    if (this.#abort !== undefined) {
      this.#abort.abort();
      return;
    }
    if (this.#story.isOver) this.#again();
    else void this.#run();
  }

  /** Another story from the same begin. */
  #again(): void {
    this.#abort?.abort();
    this.#story = this.#newStory();
    this.#keep();
    void this.#run();
  }

  #change(): void {
    this.#abort?.abort();
    this.#story = this.#newStory();
    this.#keep();
  }

  async #run(): Promise<void> {
    const model = this.#model;
    if (model === undefined || this.#abort !== undefined) return;
    const abort = new AbortController();
    this.#abort = abort;
    this.#show();
    try {
      const generation = await this.#begin(model, abort.signal);
      for await (const piece of generation) {
        if (abort.signal.aborted) break;
        this.#story = { ...this.#story, written: this.#story.written + piece };
        this.#keep();
      }
      const isOver = generation.finishReason !== undefined && !abort.signal.aborted;
      this.#story = { ...this.#story, isOver };
      if (isOver) this.context.announce(`${this.#story.prompt} ${this.#story.written}`);
      await this.#showUsage(generation);
    } catch (error) {
      if (!abort.signal.aborted) this.context.fail(error);
    } finally {
      if (this.#abort === abort) this.#abort = undefined;
      this.#keep();
    }
  }

  async #begin(model: TextModel, signal: AbortSignal): Promise<Generation> {
    const { prompt, written, seed } = this.#story;
    const isJson = this.#asJson.checked && written === '';
    const options: GenerateOptions = {
      temperature: Number(this.#temperature.value),
      topP: Number(this.#topP.value),
      maxTokens: MOST_TOKENS,
      seed,
      signal,
      ...(isJson && { constraint: await model.constraint(JSON_FORMAT) }),
    };
    const text = `${prompt.trim()}${written}`;
    if (text === '') {
      throw new UsageError({ where: 'the story', got: 'no begin', expected: 'a word or more' });
    }
    return writeStory(model, text, options);
  }

  #newStory(): KeptStory {
    const [seed = 0] = crypto.getRandomValues(new Uint32Array(1));
    return { prompt: this.#prompt.value, written: '', seed, isOver: false };
  }

  #keep(): void {
    try {
      localStorage.setItem(STORE, JSON.stringify(this.#story));
    } catch {
      // Where nothing can be kept, a reload begins anew.
    }
    this.#show();
  }

  #show(): void {
    const { prompt, written, isOver } = this.#story;
    this.#output.replaceChildren(element('span', {}, prompt.trim()), written);
    const isWriting = this.#abort !== undefined;
    const start = written === '' || isOver ? 'Write' : 'Go on';
    this.#write.textContent = isWriting ? 'Stop' : start;
    this.#write.setAttribute('aria-pressed', String(isWriting));
  }

  async #showUsage(generation: Generation | undefined): Promise<void> {
    const model = this.#model;
    if (model === undefined) return;
    const { constantBytes, liveBytes } = await model.session.memory();
    const usage = generation?.usage;
    if (usage) this.context.flow.showRun({ roundTripMs: usage.firstTokenMs });
    showFacts(this.#facts, [
      ...(usage
        ? ([
            ['Tokens', `${usage.completionTokens}, ${Math.round(usage.tokensPerSecond)} a second`],
            ['Read before', `${usage.cachedTokens} of ${usage.promptTokens} were in the cache`],
          ] as const)
        : []),
      ['Seed', String(this.#story.seed)],
      ['Weights', formatBytes(constantBytes)],
      ['Caches', formatBytes(liveBytes)],
    ]);
  }
}

function keptStory(): KeptStory | undefined {
  try {
    return (JSON.parse(localStorage.getItem(STORE) ?? 'null') as KeptStory | null) ?? undefined;
  } catch {
    return undefined;
  }
}
