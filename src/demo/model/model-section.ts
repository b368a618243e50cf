import { once } from '../../core/once.ts';
import { wrap } from 'comlink';
import { type Session, UsageError } from '../../client/index.ts';
import { FormatError } from '../../core/errors.ts';
import { describeError } from '../../core/format-quantity.ts';
import type { WatchedModel } from '../../inspector/index.ts';
import { filesAt, type ReadFile } from '../../frontend/decoders/reader/model-folder.ts';
import type { DemoContext, Section } from '../demo-context.ts';
import { untilAborted } from '../../core/async/until-aborted.ts';
import { byId, cancelButton, copyText, element, type Facts, showFacts } from '../element.ts';
import { openSession } from '../open-session.ts';
import type { ChosenModel, ModelHead } from './model-head.ts';
import { measureDevice } from './measure-device.ts';
import type { ModelHeadReader } from './model-head-worker.ts';
import { ModelRunner } from './model-runner.ts';
import { answerOf, type Machine, type RunAnswer } from './run-answer.ts';

const MODEL_FILE = /\.(onnx|tflite|task|gguf|weft|safetensors)$/i;

/** The model among files that were dropped or chosen at once; the others are beside it. Undefined for no file. */
export function modelOfFiles(files: readonly File[]): ChosenModel | undefined {
  const model = files.find(({ name }) => MODEL_FILE.test(name)) ?? files[0];
  if (model === undefined) return undefined;
  const others = new Map(files.filter((file) => file !== model).map((file) => [file.name, file]));
  const beside: ReadFile = async (name) => {
    const file = others.get(name);
    return file && new Uint8Array(await file.arrayBuffer());
  };
  return { name: model.name, source: model, beside };
}

/** The model at an address, and files of its folder: as transformers.js has them, above a folder `onnx`. */
export function modelAt(url: URL): ChosenModel {
  const name = url.pathname.slice(url.pathname.lastIndexOf('/') + 1);
  const own = new URL('.', url);
  const folder = own.pathname.endsWith('/onnx/') ? new URL('..', own) : own;
  return { name, source: url.href, beside: filesAt(folder, { cache: false }) };
}

const headReader = once(() =>
  wrap<ModelHeadReader>(
    new Worker(new URL('./model-head-worker.ts', import.meta.url), { type: 'module' }),
  ),
);

/** Reads the head of a file of this machine, or at an address. Rejects where it is no model, or cannot be read. */
async function readHead({ source }: ChosenModel): Promise<ModelHead> {
  const reader = headReader();
  const head = await (typeof source === 'string'
    ? reader.ofAddress(source)
    : reader.ofFile(source));
  if (typeof head !== 'string') return head;
  throw new FormatError(head);
}

/** Any model: whether it runs here by the head of its file, then a run of it. */
export class ModelSection implements Section {
  readonly #context: DemoContext;
  readonly #answer = byId('model-answer', HTMLElement);
  readonly #runner: ModelRunner;
  #isOpen = false;
  #session: Session | undefined;
  #shownName = 'no model';
  #compiledFrom: WatchedModel | undefined;
  #loading: AbortController | undefined;

  constructor(context: DemoContext) {
    this.#context = context;
    this.#runner = new ModelRunner(byId('model-run', HTMLElement), context);
    this.#showShared(new URLSearchParams(location.hash.split('&').slice(1).join('&')));
  }

  take(files: readonly File[]): void {
    const model = modelOfFiles(files);
    if (model !== undefined) void this.#choose(model);
  }

  async open(): Promise<void> {
    this.#isOpen = true;
    await this.#showMachine();
  }

  close(): void {
    this.#isOpen = false;
  }

  async #showMachine(): Promise<void> {
    if (!this.#isOpen) return;
    const session = this.#session;
    if (session !== undefined) this.#context.showDevice(session.device);
    await this.#context.machine.show(this.#session, this.#shownName, this.#compiledFrom);
  }

  /** What a link says of a check on another machine. Nothing is fetched until somebody asks for it here. */
  #showShared(check: URLSearchParams): void {
    const [url, verdict] = [check.get('check'), check.get('verdict')];
    if (url === null || verdict === null) return;
    byId('model-url', HTMLInputElement).value = url;
    this.#showStatus(`On another machine: ${verdict} Ask to check it on yours.`);
  }

  /** The model at an address of this site or another one. */
  takeAddress(given: string, values?: ChosenModel['values']): void {
    try {
      void this.#choose({ ...modelAt(new URL(given, document.baseURI)), values });
    } catch {
      const error = new UsageError({ where: 'the address', got: given, expected: 'an address' });
      this.#showStatus(describeError(error), 'error');
    }
  }

  /** Answers first; files of this machine and of this site are loaded at once, others when that is asked for. */
  async #choose(model: ChosenModel): Promise<void> {
    this.#loading?.abort();
    const loading = new AbortController();
    this.#loading = loading;
    const isCurrent = (): boolean => this.#loading === loading;
    this.#runner.clear();
    this.#showStatus(`${model.name}: reading the head of the file`);
    this.#answer.append(cancelButton(loading));
    try {
      const checked = Promise.all([readHead(model), machineHere()]);
      const [head, machine] = await untilAborted(checked, loading.signal);
      if (!isCurrent()) return;
      const answer = answerOf(head, machine);
      const load = (): void => void this.#load(model, loading);
      this.#showAnswer(model, answer, answer.runs ? load : undefined);
      this.#context.announce(`Will ${model.name} run here? ${answer.verdict}`);
      if (answer.runs && isNear(model.source)) load();
    } catch (error) {
      if (isCurrent()) this.#showStatus(`${model.name}: ${describeError(error)}`, 'error');
    }
  }

  #showStatus(text: string, kind: 'progress' | 'error' = 'progress'): void {
    this.#answer.hidden = false;
    this.#answer.replaceChildren(element('p', { class: 'status', 'data-kind': kind }, text));
  }

  #showAnswer(model: ChosenModel, { verdict, facts, runs }: RunAnswer, load?: () => void): void {
    const list = element('dl', { class: 'facts' });
    showFacts(list, facts satisfies Facts);
    const parts: Node[] = [
      element('h3', {}, model.name),
      element('p', { class: 'verdict', 'data-runs': String(runs) }, `Will it run here? ${verdict}`),
      list,
    ];
    if (load !== undefined && !isNear(model.source)) {
      const button = element('button', { type: 'button', class: 'primary' }, 'Fetch it and run it');
      button.addEventListener('click', () => {
        button.disabled = true;
        load();
      });
      parts.push(button);
    }
    if (typeof model.source === 'string') parts.push(shareButton(model.source, verdict, facts));
    this.#answer.hidden = false;
    this.#answer.replaceChildren(...parts);
  }

  async #load(model: ChosenModel, loading: AbortController): Promise<void> {
    const isCurrent = (): boolean => this.#loading === loading;
    const report = (text: string): void => {
      if (isCurrent()) this.#runner.showStatus(`${model.name}: ${text}`, 'progress', loading);
    };
    try {
      const old = this.#session;
      this.#session = undefined;
      await old?.dispose();
      if (/\.(gguf|safetensors)$/i.test(model.name)) {
        const { openGguf } = await import('./open-gguf.ts');
        const text = await openGguf(model, { signal: loading.signal, onStatus: report });
        if (!isCurrent()) return await text.dispose();
        this.#session = text.session;
        this.#runner.showText(text, model);
      } else {
        const session = await openSession(model.source, report, { signal: loading.signal });
        if (!isCurrent()) return await session.dispose();
        this.#session = session;
        this.#runner.show(session, model);
      }
      this.#shownName = model.name;
      this.#compiledFrom = /\.onnx$/i.test(model.name) ? watched(model) : undefined;
      this.#context.announce(`${model.name} is loaded.`);
      await this.#showMachine();
    } catch (error) {
      if (!isCurrent()) return;
      this.#runner.showStatus(`${model.name}: ${describeError(error)}`, 'error');
      this.#context.announce(`${model.name} could not be loaded.`);
    }
  }
}

/** Copies a link to this check: the address of the model, the verdict and the times; nothing is uploaded. */
function shareButton(source: string, verdict: string, facts: Facts): HTMLElement {
  const button = element('button', { type: 'button' }, 'Copy a link to this check');
  const times = facts.find(([term]) => term === 'Takes about')?.[1];
  button.addEventListener('click', () => {
    const said = times === undefined ? verdict : `${verdict} ${times}.`;
    const fields = new URLSearchParams({ check: source, verdict: said });
    void copyText(new URL(`#model&${fields.toString()}`, location.href).href, button);
  });
  return button;
}

/** For the inspector's view of passes, which reads the model once more when it is asked for. */
function watched({ name, source }: ChosenModel): WatchedModel {
  if (typeof source !== 'string') return { model: () => source.arrayBuffer(), file: name };
  return { model: async () => (await fetch(source)).arrayBuffer(), file: name, url: source };
}

/** Returns true if loading the model costs no download from another site. */
function isNear(source: string | File): boolean {
  return typeof source !== 'string' || new URL(source).origin === location.origin;
}

/** The devices of this browser, measured with the first model. */
async function machineHere(): Promise<Machine> {
  const adapter = await navigator.gpu?.requestAdapter();
  const kinds = adapter ? (['webgpu', 'wasm'] as const) : (['wasm'] as const);
  const devices: Machine['devices'][number][] = [];
  for (const kind of kinds) {
    // A device that cannot be measured has no time to tell.
    const measured = await measureDevice(kind).catch(() => undefined);
    if (measured !== undefined) devices.push(measured);
  }
  return { gpuBufferBytes: adapter?.limits.maxBufferSize, devices };
}
