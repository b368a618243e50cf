/**
 * A tab list after the ARIA pattern: one tab stop, arrow keys, Home and End move between tabs, and
 * the panel follows at once. `onSelect` gets the id of the panel. The fragment of the address may name one, before `&`.
 */
export function setUpTabs(list: HTMLElement, onSelect: (panelId: string) => void): void {
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
