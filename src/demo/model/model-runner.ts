import type { Inputs, OutputValue, Session } from '../../client/index.ts';
import type { ResponseFormat } from '../../text/chat/chat-completions.ts';
import type { TextModel } from '../../text/index.ts';
import type { DemoContext } from '../demo-context.ts';
import { describeDevice } from '../open-session.ts';
import { untilAborted } from '../../core/async/until-aborted.ts';
import { cancelButton, byId, element } from '../element.ts';
import { describeError, formatMs } from '../../core/format-quantity.ts';
import type { ChosenModel } from './model-head.ts';
import { InputRows } from './input-rows.ts';
import { Race, sessionRunner } from './race.ts';
import { parseLabels, showResults } from './results.ts';

const DEVICES = [
  ['WebGPU', 'webgpu'],
  ['WebAssembly', 'wasm'],
  ['Host', 'host'],
] as const;
const MOST_TOKENS = 120;
const ANY_JSON: ResponseFormat = { type: 'json_object' };

/** Runs a loaded model on chosen inputs, and shows what comes out. */
export class ModelRunner {
  readonly #root: HTMLElement;
  readonly #context: DemoContext;

  constructor(root: HTMLElement, context: DemoContext) {
    this.#root = root;
    this.#context = context;
  }

  clear(): void {
    this.#root.hidden = true;
    this.#root.replaceChildren();
  }

  /** A line of text instead of a model: progress, or what went wrong. */
  showStatus(text: string, kind: 'progress' | 'error' = 'progress', abort?: AbortController): void {
    this.#root.hidden = false;
    const line = element('p', { class: 'status', 'data-kind': kind }, text);
    const cancel = this.#root.querySelector('[data-cancels]') ?? (abort && cancelButton(abort));
    cancel?.toggleAttribute('data-cancels', true);
    this.#root.replaceChildren(line, ...(abort && cancel ? [cancel] : []));
  }

  show(session: Session, model: ChosenModel): void {
    const { name } = describeDevice(session.device);
    const rows = new InputRows(session, model);
    const labels = element('input', { type: 'file', accept: '.txt,.json', 'aria-label': 'Labels' });
    const run = button('Run', 'primary');
    const race = button('Side by side');
    const inside = button('Look inside this model');
    inside.addEventListener('click', () => byId('machine-inside', HTMLButtonElement).click());
    const status = element('p', { class: 'status', role: 'status' });
    const results = element('div');
    const lanes = element('div');
    run.addEventListener('click', () => {
      void whileBusy(run, status, (signal) =>
        this.#run(session, { model, rows, labels, status, results, signal }),
      );
    });
    race.addEventListener('click', () => {
      void whileBusy(race, status, async (signal) =>
        this.#race({ ...model, signal }, await rows.values(), lanes),
      );
    });
    this.#root.hidden = false;
    this.#root.replaceChildren(
      element('h3', {}, `Loaded on ${name}`),
      rows.root,
      element('div', { class: 'field' }, element('label', {}, 'Labels (.txt, .json) ', labels)),
      element('div', { class: 'toolbar' }, run, race, inside),
      status,
      results,
      lanes,
    );
  }

  showText(model: TextModel, { name }: ChosenModel): void {
    const prompt = element(
      'textarea',
      { rows: 2, 'aria-label': 'Begin of a text' },
      'Once upon a time',
    );
    const write = button('Write', 'primary');
    const asJson = element('input', { type: 'checkbox' });
    const json = element('label', {}, asJson, ' Answer in JSON, whatever it would say');
    const text = element('p', { class: 'story-text' });
    const status = element('p', { class: 'status', role: 'status' });
    write.addEventListener('click', () => {
      void whileBusy(write, status, async (signal) => {
        text.textContent = prompt.value;
        const options = { maxTokens: MOST_TOKENS, signal };
        const generation = model.generate(prompt.value, {
          ...options,
          ...(asJson.checked ? { constraint: await model.constraint(ANY_JSON) } : {}),
        });
        for await (const piece of generation) text.append(piece);
        const { completionTokens = 0, tokensPerSecond = 0 } = generation.usage ?? {};
        status.textContent = `${completionTokens} tokens, ${tokensPerSecond.toFixed(1)} a second`;
      });
    });
    this.#root.hidden = false;
    this.#root.replaceChildren(
      element('h3', {}, `${name} is loaded`),
      element(
        'div',
        { class: 'story' },
        prompt,
        json,
        element('div', { class: 'toolbar' }, write),
        text,
      ),
      status,
    );
  }

  async #run(session: Session, parts: RunParts): Promise<void> {
    const { rows, status, results, signal } = parts;
    const inputs = await rows.values();
    const names = await labelsFor(parts);
    const begin = performance.now();
    const outputs = await session.run<OutputValue>(inputs, { signal });
    const first = performance.now() - begin;
    results.replaceChildren(showResults(outputs, names));
    const profile = await untilAborted(session.profile(inputs), signal);
    status.textContent = `It took ${formatMs(first)}, and ${formatMs(profile.totalMs)} once more.`;
    await this.#context.machine.showProfile(session, profile);
  }

  async #race(
    { name, source, signal }: ChosenModel & { readonly signal: AbortSignal },
    inputs: Inputs,
    lanes: HTMLElement,
  ): Promise<void> {
    const race = new Race();
    lanes.replaceChildren(element('h4', {}, 'The same model, a run on each'), race.root);
    const hasGpu = Boolean(await navigator.gpu?.requestAdapter());
    for (const [title, device] of DEVICES) {
      if (device === 'webgpu' && !hasGpu) continue;
      signal.throwIfAborted();
      await race.add(title, () => sessionRunner(source, device, { inputs, signal }));
    }
    if (!/\.onnx$/i.test(name)) return;
    const other = button('And onnxruntime-web');
    other.addEventListener('click', () => {
      other.disabled = true;
      void race.add('onnxruntime-web', async () => {
        const { onnxRuntimeRunner } = await import('./onnxruntime-runner.ts');
        return onnxRuntimeRunner(source, inputs);
      });
    });
    lanes.append(element('p', {}, other, ' It is fetched from this site, 14 MB.'));
  }
}

/** Names of classes: those of a file that was chosen, else those of `config.json` beside the model. */
async function labelsFor({ labels, model, rows }: RunParts): Promise<string[] | undefined> {
  const file = labels.files?.[0];
  if (file !== undefined) return parseLabels(await file.text());
  // A server is asked only where the folder is known to have such files.
  const { source, beside } = model;
  if (beside === undefined || (typeof source === 'string' && !rows.hasTokenizer)) return undefined;
  const config = await beside('config.json');
  const text = config && new TextDecoder().decode(config);
  return text?.includes('"id2label"') ? parseLabels(text) : undefined;
}

interface RunParts {
  readonly model: ChosenModel;
  readonly rows: InputRows;
  readonly labels: HTMLInputElement;
  readonly status: HTMLElement;
  readonly results: HTMLElement;
  readonly signal: AbortSignal;
}

function button(text: string, kind?: 'primary'): HTMLButtonElement {
  return element('button', { type: 'button', class: kind }, text);
}

/** Disables a button until a task is done, with another one beside it that cancels the task, and says how it failed. */
async function whileBusy(
  pressed: HTMLButtonElement,
  status: HTMLElement,
  task: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const abort = new AbortController();
  const cancel = cancelButton(abort);
  pressed.disabled = true;
  pressed.after(cancel);
  status.dataset['kind'] = 'progress';
  status.textContent = 'Running…';
  try {
    await task(abort.signal);
    if (status.textContent === 'Running…') status.textContent = '';
  } catch (error) {
    const { aborted } = abort.signal;
    status.dataset['kind'] = aborted ? 'progress' : 'error';
    status.textContent = aborted ? 'Cancelled.' : describeError(error);
  } finally {
    cancel.remove();
    pressed.disabled = false;
  }
}
