import type { LoadProgress, Session } from '../client/index.ts';
import type { DemoContext, Section } from './demo-context.ts';
import { byId, element, toggleData } from './element.ts';
import { describeError } from './format-quantity.ts';
import { type InspectedFile, Inspector } from './inspector.ts';
import { modelUrl, openSession } from './open-session.ts';

/** An entry of `public/models/index.json`. */
interface GalleryEntry {
  readonly title: string;
  readonly description: string;
  /** Name of a file beside the index. */
  readonly file: string;
}

/** The executables that come with the page, and files of one's own. */
export class GallerySection implements Section {
  readonly #context: DemoContext;
  readonly #inspector: Inspector;
  readonly #cards = byId('cards', HTMLElement);
  #isOpen = false;
  #hasCards = false;
  #session: Session | undefined;
  #shownName = 'no file';
  #loading: AbortController | undefined;

  constructor(context: DemoContext) {
    this.#context = context;
    this.#inspector = new Inspector(byId('inspector', HTMLElement), context);
    const input = byId('file', HTMLInputElement);
    input.addEventListener('change', () => {
      const file = input.files?.[0];
      // Choosing the same file again must load it again.
      input.value = '';
      if (file !== undefined) void this.#openFile(file);
    });
    this.#listenToDrops(byId('drop', HTMLElement));
  }

  async open(): Promise<void> {
    this.#isOpen = true;
    await this.#context.machine.show(this.#session, this.#shownName);
    if (this.#hasCards) return;
    const response = await fetch(modelUrl('index.json'));
    if (!response.ok) throw new Error(`The gallery's index gave HTTP status ${response.status}.`);
    const entries: GalleryEntry[] = await response.json();
    this.#hasCards = true;
    this.#cards.replaceChildren(...entries.map((entry) => this.#card(entry)));
  }

  close(): void {
    this.#isOpen = false;
  }

  #card({ title, description, file }: GalleryEntry): HTMLElement {
    const button = element('button', { type: 'button', 'aria-label': `Open ${title}` }, 'Open');
    button.addEventListener('click', () => {
      void this.#load(modelUrl(file), { name: file, byteLength: undefined });
    });
    const heading = element('h3', {}, title);
    return element('li', { class: 'card' }, heading, element('p', {}, description), button);
  }

  #listenToDrops(zone: HTMLElement): void {
    const panel = byId('gallery', HTMLElement);
    for (const type of ['dragover', 'dragleave', 'drop'] as const) {
      panel.addEventListener(type, (event) => {
        event.preventDefault();
        toggleData(zone, 'over', type === 'dragover');
        const file = type === 'drop' ? event.dataTransfer?.files[0] : undefined;
        if (file !== undefined) void this.#openFile(file);
      });
    }
  }

  #openFile(file: File): Promise<void> {
    return this.#load(file, { name: file.name, byteLength: file.size });
  }

  async #load(source: string | Blob, file: InspectedFile): Promise<void> {
    this.#loading?.abort();
    const loading = new AbortController();
    this.#loading = loading;
    let byteLength = file.byteLength;
    const report = (text: string, progress?: LoadProgress): void => {
      if (progress?.phase === 'download') byteLength = progress.total ?? byteLength;
      if (this.#loading === loading) this.#inspector.showStatus(`${file.name}: ${text}`);
    };
    try {
      report('loading');
      const old = this.#session;
      this.#session = undefined;
      await old?.dispose();
      const session = await openSession(source, report, { signal: loading.signal });
      if (this.#loading !== loading) {
        await session.dispose();
        return;
      }
      this.#session = session;
      this.#shownName = file.name;
      this.#inspector.show(session, { name: file.name, byteLength });
      this.#context.announce(`${file.name} is loaded.`);
      if (this.#isOpen) await this.#context.machine.show(session, file.name);
    } catch (error) {
      if (this.#loading !== loading || loading.signal.aborted) return;
      this.#inspector.showStatus(`${file.name}: ${describeError(error)}`, 'error');
      this.#context.announce(`${file.name} could not be loaded.`);
    }
  }
}
