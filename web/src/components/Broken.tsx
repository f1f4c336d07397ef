// What is shown in place of a part that threw: nothing else of the page goes down with it.
import { Alert, Button, Code, Stack, Text } from '@mantine/core';
import { Component, type ReactNode } from 'react';
import { useWords } from '@/lib/words';

function Said(props: { what: string }) {
  const { t } = useWords();
  return (
    <Alert color="red" title={t('app.broken')} m="md">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{t('app.broken_next')}</Text>
        <Code block>{props.what}</Code>
        <Button size="xs" variant="default" onClick={() => location.reload()}>
          {t('app.reload')}
        </Button>
      </Stack>
    </Alert>
  );
}

export class Broken extends Component<{ children: ReactNode; place?: string }, { what: string | null; place?: string }> {
  override state: { what: string | null; place?: string } = { what: null };
  static getDerivedStateFromError = (error: unknown) => ({ what: error instanceof Error ? error.message : String(error) });
  // Another place is another try.
  static getDerivedStateFromProps = (props: { place?: string }, state: { place?: string }) =>
    props.place !== state.place ? { what: null, place: props.place } : null;
  override render() {
    return this.state.what === null ? this.props.children : <Said what={this.state.what} />;
  }
}
