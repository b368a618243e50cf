import type { SessionDevice } from '../client/index.ts';
import type { DemoContext, Section } from './demo-context.ts';
import { describeDevice, requestedDevice } from './open-session.ts';
import type { DrawSection } from './sections/draw-section.ts';
import type { ModelSection } from './model/model-section.ts';
import { byId, copyText, element, toggleData } from './element.ts';
import { describeError } from '../core/format-quantity.ts';
import { MachineView } from './machine-view.ts';
import { PictureSection } from './sections/picture-section.ts';

const notice = byId('notice', HTMLElement);
const live = byId('live', HTMLElement);

const context: DemoContext = {
  machine: new MachineView(),
  announce(text) {
    live.textContent = text;
  },
  fail(error) {
    notice.dataset['kind'] = 'error';
    notice.textContent = describeError(error);
    notice.hidden = false;
  },
  showDevice,
};

/** The scenes by the ids of their elements. */
interface Sections {
  readonly read: PictureSection;
  readonly model: ModelSection;
  readonly voice: Section;
  readonly story: Section;
  readonly train: Section;
  readonly draw: DrawSection;
  readonly simulate: Section;
}

type SectionName = keyof Sections;

/** The first result comes as soon as it can, so all but its scene is fetched when it is near. */
const LOADERS: { readonly [Name in SectionName]: () => Promise<Sections[Name]> } = {
  read: async () => new PictureSection(context),
  model: async () => new (await import('./model/model-section.ts')).ModelSection(context),
  voice: async () => new (await import('./sections/voice-section.ts')).VoiceSection(context),
  story: async () => new (await import('./sections/story-section.ts')).StorySection(context),
  train: async () => {
    const { TrainSection } = await import('./sections/train-section.ts');
    return new TrainSection(context, async (reader) => (await sectionOf('draw')).offer(reader));
  },
  draw: async () => new (await import('./sections/draw-section.ts')).DrawSection(context),
  simulate: async () =>
    new (await import('./sections/simulate-section.ts')).SimulateSection(context),
};
/** The scene that moves another has its buttons. */
const SCENE_OF: Readonly<Record<string, string>> = { move: 'simulate' };
const sections = new Map<SectionName, Promise<Section>>();
let current: SectionName | undefined;
let reportFirst: () => void = () => undefined;
/** Resolves when the scene that is looked at first shows what it has. */
const firstResult = new Promise<void>((resolve) => (reportFirst = resolve));

watchScenes([...document.querySelectorAll<HTMLElement>('main > section')], showScene, (id) => {
  // Its code fills it with what stands still until it is looked at; the first result comes before all of that.
  const load = async (): Promise<unknown> => {
    if (id !== 'read') await firstResult;
    return isSection(id) ? sectionOf(id) : undefined;
  };
  load().catch((error: unknown) => context.fail(error));
});
listenToFiles();
for (const button of document.querySelectorAll<HTMLButtonElement>('[data-copies]')) {
  const source = byId(button.dataset['copies'] ?? '', HTMLElement);
  button.addEventListener('click', () => void copyText(source.textContent.trim(), button));
}

// An address that hands something over may be opened where this page is open: only the fragment changes then.
addEventListener('hashchange', () => {
  if (location.hash.includes('&')) location.reload();
});

function showScene(id: string): void {
  for (const link of document.querySelectorAll('.scenes a')) {
    const isCurrent = link.getAttribute('href') === `#${id}`;
    if (isCurrent) link.setAttribute('aria-current', 'true');
    else link.removeAttribute('aria-current');
  }
  const chosen = SCENE_OF[id] ?? id;
  if (chosen === current || !isSection(chosen)) return;
  const last = current;
  current = chosen;
  turn(last, chosen).catch((error: unknown) => context.fail(error));
}

async function turn(last: SectionName | undefined, chosen: SectionName): Promise<void> {
  if (last !== undefined) (await sectionOf(last)).close();
  const section: Section = await sectionOf(chosen);
  // Somebody may have scrolled on while the section was fetched.
  try {
    if (current === chosen) await section.open();
  } finally {
    reportFirst();
  }
}

/** One whose code could not be fetched is asked for again the next time. */
function sectionOf<Name extends SectionName>(name: Name): Promise<Sections[Name]> {
  const section = (sections.get(name) as Promise<Sections[Name]> | undefined) ?? LOADERS[name]();
  sections.set(name, section);
  section.catch(() => sections.delete(name));
  return section;
}

function isSection(name: string): name is SectionName {
  return Object.hasOwn(LOADERS, name);
}

/**
 * Files that are dropped or pasted anywhere, and those of the button: pictures are read, all else may be a model. Models at addresses,
 * too. What is asked for before the scene's code is there waits for it.
 */
function listenToFiles(): void {
  const fail = (error: unknown): void => context.fail(error);
  const take = (files: readonly File[]): void => {
    const [first] = files;
    if (first === undefined) return;
    const isPicture = files.every(({ type }) => type.startsWith('image/'));
    const name = isPicture ? 'read' : 'model';
    byId(name, HTMLElement).scrollIntoView({ block: 'start' });
    void sectionOf(name).then((section) => section.take(files), fail);
  };
  const takeAddress = (address: string, values?: ReadonlyMap<string, string>): void =>
    void sectionOf('model').then((section) => section.takeAddress(address, values), fail);
  byId('model-address', HTMLFormElement).addEventListener('submit', (event) => {
    event.preventDefault();
    takeAddress(byId('model-url', HTMLInputElement).value);
  });
  for (const button of document.querySelectorAll<HTMLElement>('[data-model]')) {
    const { model = '', values } = button.dataset;
    button.addEventListener('click', () =>
      takeAddress(model, new Map(new URLSearchParams(values))),
    );
  }
  for (const type of ['dragover', 'dragleave', 'drop'] as const) {
    document.addEventListener(type, (event) => {
      event.preventDefault();
      toggleData(byId('drop', HTMLElement), 'over', type === 'dragover');
      if (type === 'drop') take([...(event.dataTransfer?.files ?? [])]);
    });
  }
  document.addEventListener('paste', ({ clipboardData }) =>
    take([...(clipboardData?.files ?? [])]),
  );
  for (const input of [byId('file', HTMLInputElement), byId('picture-file', HTMLInputElement)]) {
    input.addEventListener('change', () => {
      const files = [...(input.files ?? [])];
      // Choosing the same file again must load it again.
      input.value = '';
      take(files);
    });
  }
}

function showDevice(device: SessionDevice): void {
  const { name } = describeDevice(device);
  const isAuto = requestedDevice() === 'auto';
  const reason =
    device.kind === 'webgpu' || !isAuto ? '' : ` (${device.reason.replace(/\.$/, '')})`;
  byId('device-switch', HTMLElement).replaceChildren(
    `Running on ${name}${reason}; `,
    ...(isAuto
      ? ['try ', link('?device=webgpu', 'WebGPU'), ', ', link('?device=wasm', 'WebAssembly')]
      : [link(location.pathname, 'choose the best device')]),
    ...(isAuto ? [' or ', link('?device=host', 'the host device')] : []),
    '.',
  );
}

function link(href: string, text: string): HTMLElement {
  return element('a', { href }, text);
}

/**
 * Tells the id of the scene across the middle of the window, or of the one that is touched: no two run at once. The fragment
 * of the address may name the first, before `&`.
 */
function watchScenes(
  scenes: readonly HTMLElement[],
  onChange: (id: string) => void,
  onNear: (id: string) => void,
): void {
  const [named = ''] = location.hash.slice(1).split('&');
  const first = scenes.find(({ id }) => id === named);
  // With what stands behind `&` the browser finds no element, and a reload would go where the page was before.
  if (first !== undefined) {
    history.scrollRestoration = 'manual';
    first.scrollIntoView({ behavior: 'instant' });
  }
  const near = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) onNear(target.id);
    },
    { rootMargin: '0px 0px 50% 0px' },
  );
  const middle = new IntersectionObserver(
    (entries) => {
      // On a busy machine several come at once, the latest at the end.
      const entry = entries.filter(({ isIntersecting }) => isIntersecting).at(-1);
      if (entry !== undefined) onChange(entry.target.id);
    },
    { rootMargin: '-50% 0px -50% 0px' },
  );
  for (const scene of scenes) {
    near.observe(scene);
    middle.observe(scene);
    for (const type of ['pointerdown', 'focusin']) {
      scene.addEventListener(type, () => onChange(scene.id));
    }
  }
}
