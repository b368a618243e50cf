import { KernelSourceView } from '../kernel/kernel-source-view.ts';
import type { CodeLine, FunctionCode } from '../program/function-code.ts';
import { LineList } from '../view/line-list.ts';

/** Source, bytecode and kernels of a function side by side; what is chosen in one is marked in the others. */
export class CodePanel {
  readonly #sources: LineList;
  readonly #bytecode: LineList;
  readonly #kernel = document.createElement('pre');
  /** The view of the code that the device generates for the kernel. */
  readonly kernelSource = new KernelSourceView();
  readonly #onSelect: (instruction: number) => void;
  #code: FunctionCode = { lines: [], sources: [], kernels: {} };

  constructor(root: HTMLElement, onSelect: (instruction: number) => void) {
    this.#onSelect = onSelect;
    this.#sources = new LineList('Source', (source) => this.#chooseSource(source));
    this.#bytecode = new LineList('Bytecode', (line) => this.#chooseLine(line));
    this.#kernel.tabIndex = 0;
    this.#kernel.setAttribute('aria-label', 'Kernel');
    this.#kernel.setAttribute('role', 'region');
    root.replaceChildren(
      column('Source', this.#sources.root),
      column('Bytecode', this.#bytecode.root),
      column('Kernel', this.#kernel, this.kernelSource.root),
    );
  }

  /** Shows a function, with times of its kernels by name where there are any. */
  show(code: FunctionCode): void {
    this.#code = code;
    this.#sources.show(code.sources.map((text) => ({ text })));
    this.#bytecode.show(code.lines);
    this.#kernel.textContent = code.lines.length === 0 ? '' : 'Choose a line.';
    this.kernelSource.show(undefined);
  }

  /** Marks an instruction and all that belongs to it. */
  select(instruction: number | undefined): void {
    const line = instruction === undefined ? undefined : this.#code.lines[instruction];
    this.#bytecode.mark(new Set(instruction === undefined ? [] : [instruction]));
    this.#sources.mark(new Set(line?.sources));
    this.#showKernel(line);
  }

  /** Chooses what comes from a place of the source; nothing where nothing does. */
  selectSource(place: string): void {
    const source = this.#code.sources.indexOf(place);
    if (source < 0) return;
    this.#sources.mark(new Set([source]));
    this.#chooseSource(source);
  }

  #showKernel(line: CodeLine | undefined): void {
    const { kernels } = this.#code;
    this.#kernel.textContent = kernels[line?.kernel ?? ''] ?? 'The line calls no kernel.';
    this.kernelSource.show(line?.kernel);
  }

  #chooseLine(instruction: number): void {
    this.select(instruction);
    this.#onSelect(instruction);
  }

  /** All lines of a node of the source; of these the first call of a kernel is chosen. */
  #chooseSource(source: number): void {
    const lines = [...this.#code.lines.entries()].filter(([, { sources }]) =>
      sources.includes(source),
    );
    const call = lines.find(([, { kernel }]) => kernel !== undefined) ?? lines[0];
    if (call === undefined) return;
    this.#bytecode.mark(new Set([call[0], ...lines.map(([number]) => number)]));
    this.#showKernel(call[1]);
    this.#onSelect(call[0]);
  }
}

function column(title: string, ...content: readonly HTMLElement[]): HTMLElement {
  const section = document.createElement('section');
  const heading = document.createElement('h3');
  heading.textContent = title;
  section.append(heading, ...content);
  return section;
}
