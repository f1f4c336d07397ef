// What a stranger sees: whose yard this is, and how its owner gets in.
import { Button, Code, Container, Group, Paper, Stack, Text, TextInput, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { Logo } from '@/components/Logo';
import { detailOf } from '@/lib/api';
import { useWords } from '@/lib/words';
import { sessionQuery, signIn } from './api';

/** A link of `trainyard open` may be pasted whole. */
const codeOf = (typed: string) => /code=([0-9A-Za-z]+)/.exec(typed)?.[1] ?? typed.trim();

export function Front(props: { owner: string; refused: string | null }) {
  const { t } = useWords();
  const queries = useQueryClient();
  const [typed, setTyped] = useState('');
  const [trouble, setTrouble] = useState(props.refused);
  const [busy, setBusy] = useState(false);

  async function enter(event: FormEvent) {
    event.preventDefault();
    if (!codeOf(typed)) return setTrouble(t('front.code_wanted'));
    setBusy(true);
    setTrouble(null);
    try {
      queries.setQueryData(sessionQuery.queryKey, await signIn(codeOf(typed)));
    } catch (error) {
      setTrouble(detailOf(error, t('app.unreachable')));
      setBusy(false);
    }
  }

  return (
    <Container component="main" size="30rem" pt="14vh" px="md">
      <Stack gap="lg">
        <Group gap="sm">
          <Logo size={40} />
          <Title order={1} size="h2" style={{ overflowWrap: 'anywhere' }}>
            {t('front.whose', { owner: props.owner })}
          </Title>
        </Group>
        <Text>{t('front.open')}</Text>
        <Code block fz="md" p="md" bd="1px solid var(--page-line)" bg="var(--page-surface)">
          trainyard open
        </Code>
        <Paper withBorder p="md" component="form" onSubmit={enter}>
          <Stack gap="sm">
            <TextInput
              label={t('front.code')}
              description={t('front.code_help')}
              value={typed}
              onChange={(event) => setTyped(event.currentTarget.value)}
              error={trouble}
              autoComplete="off"
              spellCheck={false}
            />
            <Group justify="flex-end">
              <Button type="submit" loading={busy}>
                {t('front.enter')}
              </Button>
            </Group>
          </Stack>
        </Paper>
      </Stack>
    </Container>
  );
}
