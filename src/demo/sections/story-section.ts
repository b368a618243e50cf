import { UsageError } from '../../client/index.ts';
import { formatBytes } from '../../core/format-quantity.ts';
import { type GenerateOptions, type Generation, TextModel } from '../../text/index.ts';
import type { ResponseFormat } from '../../text/chat/chat-completions.ts';
import type { DemoContext } from '../demo-context.ts';
import { byId, element, showFacts } from '../element.ts';
import { describeLeft, enable, Moves } from '../move/moves.ts';
import type { Destination, Movable, Parcel } from '../move/parcel.ts';
import { requestedDevice } from '../open-session.ts';
import { ProgramSection } from './program-section.ts';
import { keepStory, keptStory, type MovedStory, readMovedStory, type Story } from './story.ts';

const TITLE = 'stories/model.weft';
const MOST_TOKENS = 160;
const BUTTONS = ['story-write', 'story-again', 'story-move', 'story-send'];

/** An answer as data; its names are those that the model knows. */
const NAMES = 'Tom Ben Max Leo Sam Jack Finn Paul Mia Anna Lily Zoe Emma Rosa Nora Ella'.split(' ');
const PLACES = 'kitchen garden park school forest attic barn shop library market castle'.split(' ');
const SCHEMA = {
  type: 'object',
  properties: { who: { enum: NAMES }, where: { enum: PLACES } },
  required: ['who', 'where'],
};
const JSON_FORMAT: ResponseFormat = { type: 'json_schema', json_schema: { schema: SCHEMA } };

type Begin = (model: TextModel, signal: AbortSignal) => Promise<Generation>;

/** A language model writes a story; the loop over its tokens is part of the executable. */
export class StorySection extends ProgramSection implements Movable {
  readonly section = 'story';
  readonly #prompt = byId('story-prompt', HTMLTextAreaElement);
  readonly #output = byId('story-text', HTMLElement);
  readonly #write = byId('story-write', HTMLButtonElement);
  readonly #temperature = byId('story-temperature', HTMLInputElement);
  readonly #topP = byId('story-top-p', HTMLInputElement);
  readonly #asJson = byId('story-json', HTMLInputElement);
  readonly #facts = byId('story-facts', HTMLElement);
  readonly #moves: Moves;
  #model: TextModel | undefined;
  #abort: AbortController | undefined;
  /** The generation of the run, or of the last one. */
  #generation: Generation | undefined;
  /** True while the model answers in JSON. */
  #isJson = false;
  #running: Promise<void> = Promise.resolve();
  #story: Story;
  /** What is begun here is another story. */
  #hasLeft = false;
  /** A generation that was packed half-written. */
  #packed: Uint8Array | undefined;

  constructor(context: DemoContext) {
    super(context, TITLE);
    this.#story = keptStory() ?? this.#newStory();
    this.#prompt.value = this.#story.prompt;
    this.#write.addEventListener('click', () => {
      if (this.#model === undefined) void this.comeBack();
      else this.#toggle();
    });
    byId('story-again', HTMLButtonElement).addEventListener('click', () => void this.#again());
    this.#prompt.addEventListener('input', () => this.#change());
    for (const input of [this.#temperature, this.#topP]) {
      input.addEventListener('input', () => showSetting(input));
      // It may have been moved, or come back with the page, before.
      showSetting(input);
    }
    this.#moves = new Moves('story', this, context);
    this.#show();
  }

  override close(): void {
    super.close();
    this.#abort?.abort();
  }

  protected override load(): Promise<void> {
    const onStatus = (text: string): void => showFacts(this.#facts, [['', text]]);
    return this.#moves.arrive(onStatus, async (arrived) => {
      const model = await TextModel.load('./models/stories/', {
        device: requestedDevice(),
        onProgress: ({ phase, loaded, total }) => {
          showFacts(this.#facts, [
            [phase, total === undefined ? '' : `${Math.round((100 * loaded) / total)}%`],
          ]);
        },
      });
      this.#model = model;
      this.session = model.session;
      this.context.showDevice(model.session.device);
      this.#enable(true);
      await this.#showUsage(undefined);
      if (arrived !== undefined) await this.#takeOver(model, arrived);
      else if (this.#hasLeft) this.#change();
    });
  }

  async pack(): Promise<Parcel> {
    this.#packed = undefined;
    const wasWriting = this.#abort !== undefined;
    this.#abort?.abort();
    await this.#running;
    this.#enable(false);
    const generation = this.#generation;
    const isWriting = wasWriting && generation?.finishReason === 'aborted';
    if (isWriting) this.#packed = await generation?.save();
    const moved: MovedStory = {
      story: this.#story,
      temperature: this.#temperature.value,
      topP: this.#topP.value,
      isJson: this.#isJson,
    };
    return { note: JSON.stringify(moved), snapshot: this.#packed ?? new Uint8Array() };
  }

  goOn(): void {
    this.#enable(true);
    const packed = this.#packed;
    if (packed !== undefined) this.#start((model, signal) => this.#resume(model, packed, signal));
  }

  async leave(to: Destination): Promise<void> {
    await this.#model?.dispose();
    [this.#model, this.session, this.#hasLeft] = [undefined, undefined, true];
    // The other tab goes on with what is stored.
    if (to === 'another device') keepStory(undefined);
    this.#write.textContent = 'Begin anew';
    this.#write.disabled = false;
    this.#write.focus({ preventScroll: true });
    const text = describeLeft('The story', to);
    showFacts(this.#facts, [['Moved', text]]);
    this.context.announce(text);
    await this.showMachine();
  }

  async comeBack(): Promise<void> {
    this.#write.disabled = true;
    await this.reopen().catch((error: unknown) => this.context.fail(error));
  }

  async #takeOver(model: TextModel, { note, snapshot }: Parcel): Promise<void> {
    const { story, temperature, topP, isJson } = readMovedStory(note);
    [this.#story, this.#isJson] = [story, isJson];
    this.#prompt.value = story.prompt;
    [this.#temperature.value, this.#topP.value] = [temperature, topP];
    for (const input of [this.#temperature, this.#topP]) showSetting(input);
    this.#keep();
    if (snapshot.length === 0) return;
    const abort = new AbortController();
    const generation = await this.#resume(model, snapshot, abort.signal);
    this.#start(async () => generation, abort);
    this.context.announce('The story goes on.');
  }

  #enable(areEnabled: boolean): void {
    enable(BUTTONS, areEnabled);
    this.#prompt.disabled = !areEnabled;
  }

  #toggle(): void {
    if (this.#abort !== undefined) {
      this.#abort.abort();
      return;
    }
    if (this.#story.isOver) void this.#again();
    else this.#start();
  }

  /** Another story from the same begin. */
  async #again(): Promise<void> {
    this.#change();
    await this.#running;
    this.#start();
  }

  #change(): void {
    this.#abort?.abort();
    this.#story = this.#newStory();
    this.#keep();
  }

  #start(begin: Begin = (model, signal) => this.#begin(model, signal), abort?: AbortController) {
    if (this.#abort === undefined) this.#running = this.#run(begin, abort ?? new AbortController());
  }

  async #run(begin: Begin, abort: AbortController): Promise<void> {
    const model = this.#model;
    if (model === undefined) return;
    this.#abort = abort;
    this.#generation = undefined;
    this.#show();
    try {
      const generation = await begin(model, abort.signal);
      this.#generation = generation;
      await this.#writeDown(generation, abort.signal);
      await this.#showUsage(generation);
    } catch (error) {
      if (!abort.signal.aborted) this.context.fail(error);
    } finally {
      this.#abort = undefined;
      this.#keep();
    }
  }

  async #writeDown(generation: Generation, signal: AbortSignal): Promise<void> {
    let story = this.#story;
    for await (const piece of generation) {
      // Another one was begun.
      if (this.#story !== story) return;
      story = { ...story, written: story.written + piece };
      this.#story = story;
      this.#keep();
      // A piece that came is part of what is packed.
      if (signal.aborted) break;
    }
    if (this.#story !== story || generation.finishReason === 'aborted') return;
    this.#story = { ...story, isOver: true };
    this.context.announce(`${story.prompt} ${story.written}`);
  }

  async #resume(model: TextModel, packed: Uint8Array, signal: AbortSignal): Promise<Generation> {
    return model.resume(packed, { signal, ...(await this.#constraint(model)) });
  }

  async #constraint(model: TextModel): Promise<Pick<GenerateOptions, 'constraint'>> {
    return this.#isJson ? { constraint: await model.constraint(JSON_FORMAT) } : {};
  }

  async #begin(model: TextModel, signal: AbortSignal): Promise<Generation> {
    const { prompt, written, seed } = this.#story;
    this.#isJson = this.#asJson.checked && written === '';
    const options: GenerateOptions = {
      temperature: Number(this.#temperature.value),
      topP: Number(this.#topP.value),
      maxTokens: MOST_TOKENS,
      seed,
      signal,
      ...(await this.#constraint(model)),
    };
    const text = `${prompt.trim()}${written}`;
    if (text === '') {
      throw new UsageError({ where: 'the story', got: 'no begin', expected: 'a word or more' });
    }
    return model.generate(text, options);
  }

  #newStory(): Story {
    const [seed = 0] = crypto.getRandomValues(new Uint32Array(1));
    return { prompt: this.#prompt.value, written: '', seed, isOver: false };
  }

  #keep(): void {
    keepStory(this.#story);
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

/** Shows the value of a slider beside it. */
function showSetting(input: HTMLInputElement): void {
  byId(`${input.id}-value`, HTMLElement).textContent = Number(input.value).toFixed(2);
}
