import { modelCache, TextModel, type TextLoadOptions } from '../../src/text/index.ts';

/** What the policy of the page allows. */
const device = location.pathname.endsWith('-wasm.html') ? 'wasm' : 'webgpu';
const PROMPT = [5, 200, 311, 17];

/** Tokens that a model generated in a page, and how it was loaded. */
interface Written {
  /** Tokens that are likeliest. */
  readonly ids: readonly number[];
  readonly device: string;
  /** Phases of the load, each once, in the order in which they began. */
  readonly phases: readonly string[];
  /** Bytes of the last report of the download. */
  readonly downloaded: readonly [loaded: number, total: number | undefined];
}

/** How long a page was blocked. */
interface LongestTask {
  /** The longest task of more than 50 ms; 0 without one. */
  readonly longestMs: number;
  readonly loadMs: number;
  /** The text that was read is that of its tokens. */
  readonly isSame: boolean;
}

/** What {@link TextPage.talk} saw. */
interface Talk {
  readonly decoded: string;
  readonly promptTokens: number;
  readonly hasText: boolean;
  /** The error of a conversation whose template goes on and on. */
  readonly refusal: string;
  /** A text that a constraint allows. */
  readonly word: string;
  /** The error of a tokenizer whose model was disposed of. */
  readonly later: string;
}

async function failureOf(made: Promise<unknown>): Promise<string> {
  try {
    await made;
    return 'none';
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  }
}

/** The page's interface to the tests. */
const page = {
  async write(source: string, options: TextLoadOptions = {}): Promise<Written> {
    const phases = new Set<string>();
    let downloaded: Written['downloaded'] = [0, undefined];
    const model = await TextModel.load(source, {
      device,
      ...options,
      onProgress: ({ phase, loaded, total }) => {
        phases.add(phase);
        if (phase === 'download') downloaded = [loaded, total];
      },
    });
    const ids: number[] = [];
    const generation = model.generate(PROMPT, { temperature: 0, maxTokens: 12 });
    for await (const { id } of generation.tokens()) if (id >= 0) ids.push(id);
    const { kind } = model.session.device;
    await model.dispose();
    return { ids, device: kind, phases: [...phases], downloaded };
  },
  /** Loads a model, has it read a text and a conversation and say how its answer must be, and tells the longest task of this thread meanwhile. */
  async longestTask(source: string, options: TextLoadOptions = {}): Promise<LongestTask> {
    let longestMs = 0;
    const observer = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) longestMs = Math.max(longestMs, duration);
    });
    const begin = performance.now();
    observer.observe({ type: 'longtask' });
    const model = await TextModel.load(source, { device, ...options });
    const loadMs = performance.now() - begin;
    const tokens = await model.tokenizer.encode('The quick brown fox. '.repeat(50));
    const text = await model.tokenizer.decode(tokens);
    await model.constraint({ type: 'regex', regex: '[a-z]+' });
    await model.dispose();
    observer.disconnect();
    return { longestMs, loadMs, isSame: text === 'The quick brown fox. '.repeat(50) };
  },
  /** What a model with a tokenizer and a template of its own makes of a text and of conversations. */
  async talk(source: string): Promise<Talk> {
    const model = await TextModel.load(source, { device });
    const tokens = await model.tokenizer.encode('hello wörld');
    const decoded = await model.tokenizer.decode(tokens);
    const answer = model.chat([{ role: 'user', content: 'hi' }], { maxTokens: 4, temperature: 0 });
    const text = await answer.text();
    const loops = model.chat([{ role: 'user', content: 'loop' }]).ready();
    const refusal = await failureOf(loops);
    const format = { type: 'regex', regex: '(yes|no)' } as const;
    const constraint = await model.constraint(format);
    const word = await model.generate('hello', { constraint, maxTokens: 8 }).text();
    await model.dispose();
    const later = await failureOf(model.tokenizer.encode('x'));
    const { usage } = answer;
    return {
      decoded,
      promptTokens: usage?.promptTokens ?? 0,
      hasText: text !== '',
      refusal,
      word,
      later,
    };
  },
  /** The message of the error that a load ends with. */
  async failure(source: string, options: TextLoadOptions = {}): Promise<string> {
    return failureOf(TextModel.load(source, { device, ...options }));
  },
  async kept(): Promise<readonly string[]> {
    const files = await modelCache.list();
    return files.map(({ url, byteLength, storedByteLength }) => {
      const name = url.slice(url.lastIndexOf('/') + 1);
      return storedByteLength === byteLength ? name : `${name}, a part`;
    });
  },
  async clear(): Promise<void> {
    await modelCache.clear();
  },
};

export type TextPage = typeof page;
Object.assign(globalThis, { weftText: page });
document.documentElement.dataset['ready'] = 'true';
