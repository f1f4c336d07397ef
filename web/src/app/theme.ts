// How the page looks: one teal for what can be pressed, greys for everything else, colour only where it means something.
import { createTheme, Portal, type MantineColorsTuple } from '@mantine/core';

const rail: MantineColorsTuple = ['#e3f9fb', '#c8eef2', '#97dbe3', '#62c6d3', '#3ab4c5', '#1fa5b8', '#0f93a6', '#0b7285', '#085f70', '#044b5a'];

// As Mantine's, but dark enough from the seventh on for white words.
const red: MantineColorsTuple = ['#fff5f5', '#ffe3e3', '#ffc9c9', '#ffa8a8', '#ff8787', '#ff6b6b', '#e03131', '#c92a2a', '#b02525', '#961f1f'];

export const theme = createTheme({
  primaryColor: 'rail',
  primaryShade: { light: 7, dark: 7 },
  autoContrast: true,
  colors: { rail, red },
  // Menus and dialogs belong to the place they are of; beside it they would be landmarks of their own.
  components: { Portal: Portal.extend({ defaultProps: { target: 'main' } }) },
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei", sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", "JetBrains Mono", Menlo, Consolas, "DejaVu Sans Mono", "Noto Sans Mono CJK SC", monospace',
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  headings: { fontWeight: '650' },
});
