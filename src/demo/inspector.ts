import type { OutputValue, Session, ValueInfo } from '../client/index.ts';
import { seededRandom } from '../core/random.ts';
import type { DemoContext } from './demo-context.ts';
import { describeDevice } from './describe-device.ts';
import { element } from './element.ts';
import { describeError, formatBytes, formatMs } from './format-quantity.ts';
import { kernelTime } from './machine-view.ts';
import { describeOutput } from './describe-output.ts';
import { numbersToChoose, randomInputs } from '../client/random-inputs.ts';

const TIMED_RUNS = 5;

export interface InspectedFile {
  readonly name: string;
  /** Bytes of the file; undefined while unknown. */
  readonly byteLength: number | undefined;
}

/** Shows what a loaded file wants and gives, and runs it on random input. */
export class Inspector {
  readonly #root: HTMLElement;
  readonly #context: DemoContext;

  constructor(root: HTMLElement, context: DemoContext) {
    this.#root = root;
    this.#context = context;
  }

  /** A line of text instead of a model: progress, or what went wrong. */
  showStatus(text: string, kind: 'progress' | 'error' = 'progress'): void {
    this.#root.hidden = false;
    this.#root.replaceChildren(element('p', { class: 'status', 'data-kind': kind }, text));
  }

  show(session: Session, file: InspectedFile): void {
    const { device } = session;
    const size =
      file.byteLength === undefined ? 'Loaded' : `${formatBytes(file.byteLength)}, loaded`;
    const { name } = describeDevice(device);
    const where = device.kind === 'webgpu' ? `WebGPU (${name})` : name;
    const fields = numbersToChoose(session.inputs).map(numberField);
    const results = element('div', { class: 'scroll' });
    const status = element('p', { class: 'status', role: 'status' });
    const run = element('button', { type: 'button', class: 'primary' }, 'Run on random input');
    const controls = element('div', { class: 'toolbar' }, ...fields.map(({ label }) => label), run);
    run.addEventListener('click', () => {
      const chosen = new Map(fields.map(({ name, input }) => [name, Number(input.value)]));
      run.disabled = true;
      void this.#run(session, chosen, { status, results }).finally(() => {
        run.disabled = false;
      });
    });
    this.#root.hidden = false;
    this.#root.replaceChildren(
      element('h2', {}, file.name),
      element('p', {}, `${size} on ${where}. Functions: ${session.functions.join(', ')}.`),
      element('div', { class: 'scroll' }, signatureTable(session)),
      controls,
      status,
      results,
    );
  }

  async #run(
    session: Session,
    chosen: ReadonlyMap<string, number>,
    { status, results }: { status: HTMLElement; results: HTMLElement },
  ): Promise<void> {
    status.dataset['kind'] = 'progress';
    status.textContent = 'Running…';
    try {
      const inputs = randomInputs(session.inputs, chosen, seededRandom(1));
      const times: number[] = [];
      let outputs: Record<string, OutputValue> = {};
      for (let i = 0; i <= TIMED_RUNS; i++) {
        const started = performance.now();
        outputs = await session.run<OutputValue>(inputs);
        times.push(performance.now() - started);
      }
      results.replaceChildren(outputTable(outputs));
      const best = Math.min(...times.slice(1));
      status.textContent = `First run ${formatMs(times[0])}, best of ${TIMED_RUNS} more ${formatMs(best)}.`;
      const profile = await session.profile(inputs);
      this.#context.flow.showRun({
        roundTripMs: best,
        instructions: profile.instructions,
        kernels: profile.kernels.length,
        kernelMs: kernelTime(profile.kernels),
      });
      await this.#context.machine.showProfile(session, profile);
    } catch (error) {
      status.dataset['kind'] = 'error';
      status.textContent = describeError(error);
    }
  }
}

interface NumberField {
  readonly name: string;
  readonly label: HTMLLabelElement;
  readonly input: HTMLInputElement;
}

function numberField(name: string): NumberField {
  const input = element('input', { type: 'number', value: 1, min: 0, step: 1 });
  return { name, input, label: element('label', {}, `${name} `, input) };
}

function signatureTable({ inputs, outputs }: Session): HTMLTableElement {
  const rows = [
    ...inputs.map((info) => signatureRow('input', info)),
    ...outputs.map((info) => signatureRow('output', info)),
  ];
  return table(['', 'Name', 'Type', 'Shape'], rows);
}

function signatureRow(kind: string, { name, dtype, shape }: ValueInfo): string[] {
  const isTensor = dtype !== 'int' && dtype !== 'float' && dtype !== 'any';
  return [kind, name, dtype, isTensor ? `[${shape.join(', ')}]` : ''];
}

function outputTable(outputs: Readonly<Record<string, OutputValue>>): HTMLTableElement {
  const rows = Object.entries(outputs).map(([name, value]) => {
    const { type, range, values } = describeOutput(value);
    return [name, type, range, values];
  });
  return table(['Output', 'Type', 'Range', 'First values'], rows);
}

function table(columns: readonly string[], rows: readonly string[][]): HTMLTableElement {
  const head = columns.map((text) => element('th', { scope: 'col' }, text));
  const body = rows.map((cells) =>
    element('tr', {}, ...cells.map((text) => element('td', {}, text))),
  );
  return element(
    'table',
    {},
    element('thead', {}, element('tr', {}, ...head)),
    element('tbody', {}, ...body),
  );
}
