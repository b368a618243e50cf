import type { SessionDevice } from '../client/index.ts';
import type { DemoContext, Section } from './demo-context.ts';
import { describeDevice } from './describe-device.ts';
import type { DrawSection } from './sections/draw-section.ts';
import { byId, element, select } from './element.ts';
import { FlowDiagram } from './flow-diagram.ts';
import { describeError } from '../core/format-quantity.ts';
import { MachineView } from './machine-view.ts';
import { requestedDevice } from './open-session.ts';
import { SimulateSection } from './sections/simulate-section.ts';

const notice = byId('notice', HTMLElement);
const live = byId('live', HTMLElement);
const flow = new FlowDiagram(byId('flow', HTMLElement));

const context: DemoContext = {
  machine: new MachineView(),
  flow,
  announce(text) {
    live.textContent = text;
  },
  fail(error) {
    showNotice(describeError(error), 'error');
  },
  showDevice,
};

/** The sections by the ids of their panels. */
interface Sections {
  readonly simulate: Section;
  readonly draw: DrawSection;
  readonly model: Section;
  readonly 'picture-panel': Section;
  readonly 'voice-panel': Section;
  readonly story: Section;
  readonly train: Section;
}

type SectionName = keyof Sections;

/** The first program runs as soon as it can, so all but its section is fetched when it is chosen. */
const LOADERS: { readonly [Name in SectionName]: () => Promise<Sections[Name]> } = {
  simulate: async () => new SimulateSection(context),
  draw: async () => new (await import('./sections/draw-section.ts')).DrawSection(context),
  model: async () => new (await import('./model/model-section.ts')).ModelSection(context),
  'picture-panel': async () =>
    new (await import('./sections/picture-section.ts')).PictureSection(context),
  'voice-panel': async () =>
    new (await import('./sections/voice-section.ts')).VoiceSection(context),
  story: async () => new (await import('./sections/story-section.ts')).StorySection(context),
  train: async () => {
    const { TrainSection } = await import('./sections/train-section.ts');
    return new TrainSection(context, async (reader) => (await sectionOf('draw')).offer(reader));
  },
};
const sections = new Map<SectionName, Promise<Section>>();
let current: SectionName | undefined;

setUpTabs(select(document, '[role="tablist"]'), (panelId) => {
  if (panelId === current || !isSection(panelId)) return;
  const last = current;
  current = panelId;
  turn(last, panelId).catch((error: unknown) => context.fail(error));
});

// An address that hands something over may be opened where this page is open: only the fragment changes then.
addEventListener('hashchange', () => {
  if (location.hash.includes('&')) location.reload();
});

async function turn(last: SectionName | undefined, chosen: SectionName): Promise<void> {
  if (last !== undefined) (await sectionOf(last)).close();
  flow.clear();
  const section: Section = await sectionOf(chosen);
  // Another tab may have been chosen while the section was fetched.
  if (current === chosen) await section.open();
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

function showNotice(text: string, kind: 'info' | 'error'): void {
  notice.dataset['kind'] = kind;
  notice.textContent = text;
  notice.hidden = false;
}

function showDevice(device: SessionDevice, { isFastest = false } = {}): void {
  flow.showDevice(device);
  const { name } = describeDevice(device);
  const asked = requestedDevice();
  if (device.kind !== 'webgpu' && asked === 'auto' && !isFastest) {
    showNotice(
      `No WebGPU here, so everything runs on ${name}: on the CPU in the worker, only slower. ` +
        `The reason: ${device.fallbackReason ?? device.reason}`,
      'info',
    );
  }
  byId('device-switch', HTMLElement).replaceChildren(
    `Running on ${name}; `,
    ...(asked === 'auto'
      ? [
          'try ',
          ...(device.kind === 'wasm' ? [] : [link('?device=wasm', 'WebAssembly'), ' or ']),
          link('?device=host', 'the host device'),
        ]
      : [link(location.pathname, 'choose the best device')]),
    '.',
  );
}

function link(href: string, text: string): HTMLElement {
  return element('a', { href }, text);
}

/**
 * A tab list after the ARIA pattern: one tab stop, arrow keys, Home and End move between tabs, and
 * the panel follows at once. `onSelect` gets the id of the panel. The fragment of the address may name one, before `&`.
 */
function setUpTabs(list: HTMLElement, onSelect: (panelId: string) => void): void {
  const tabs = [...list.querySelectorAll<HTMLElement>('[role="tab"]')];
  const panelOf = (tab: HTMLElement): string => tab.getAttribute('aria-controls') ?? '';
  const select = (chosen: HTMLElement): void => {
    for (const tab of tabs) {
      const isChosen = tab === chosen;
      tab.setAttribute('aria-selected', String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      document.getElementById(panelOf(tab))?.toggleAttribute('hidden', !isChosen);
    }
    onSelect(panelOf(chosen));
  };
  const move = (event: KeyboardEvent, from: number): void => {
    const last = tabs.length - 1;
    const targets: Readonly<Record<string, number>> = {
      ArrowRight: from === last ? 0 : from + 1,
      ArrowLeft: from === 0 ? last : from - 1,
      Home: 0,
      End: last,
    };
    const target = tabs[targets[event.key] ?? -1];
    if (target === undefined) return;
    event.preventDefault();
    target.focus();
    select(target);
  };
  for (const [index, tab] of tabs.entries()) {
    tab.addEventListener('click', () => select(tab));
    tab.addEventListener('keydown', (event) => move(event, index));
  }
  const [named] = location.hash.split('&');
  const first = tabs.find((tab) => `#${panelOf(tab)}` === named) ?? tabs[0];
  if (first !== undefined) select(first);
}
