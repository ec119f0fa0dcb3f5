// A sorted list that is searched from its head: an insertion costs as much as the list is long. It says its length to
// Perun's collector of complexity.
#include <cstddef>
#include <cstdlib>

void _profapi_using_size_value(void *list, size_t size);
void _profapi_register_size_value(void *list, bool is_within, size_t size);

struct Node {
    int value;
    Node *next;
};

struct List {
    Node *head;
    size_t size;
};

void insert(List *list, int value) {
    _profapi_using_size_value(list, list->size);
    Node **at = &list->head;
    while (*at && (*at)->value < value)
        at = &(*at)->next;
    *at = new Node{value, *at};
    list->size++;
}

void fill(List *list, int count) {
    for (int i = 0; i < count; i++)
        insert(list, rand());
}

int main(int, char **arguments) {
    List list = {nullptr, 0};
    _profapi_register_size_value(&list, true, 0);
    fill(&list, atoi(arguments[1]));
}
